{{/* Names and labels. Selector labels never change: a Deployment's selector cannot be edited. */}}

{{- define "firebolt-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "firebolt-operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The full name with a suffix, still a legal Service name: (list . "metrics"). */}}
{{- define "firebolt-operator.named" -}}
{{- $suffix := index . 1 -}}
{{- $room := int (sub 62 (len $suffix)) -}}
{{- printf "%s-%s" (include "firebolt-operator.fullname" (index . 0) | trunc $room | trimSuffix "-") $suffix -}}
{{- end -}}

{{- define "firebolt-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "firebolt-operator.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "firebolt-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "firebolt-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end -}}

{{- define "firebolt-operator.labels" -}}
{{- $labels := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" (.Chart.AppVersion | toString)
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/component" "operator" -}}
{{- $own := include "firebolt-operator.selectorLabels" . | fromYaml -}}
{{- toYaml (merge (dict) $own $labels .Values.extraLabels) -}}
{{- end -}}

{{/* Metadata of one object: (dict "root" . "name" N "namespace" NS "annotations" A "labels" L); all but root and name are optional. */}}
{{- define "firebolt-operator.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
{{- $labels := include "firebolt-operator.labels" .root | fromYaml }}
{{- toYaml (merge (dict) (default (dict) .labels) $labels) | nindent 2 }}
{{- with merge (dict) (default (dict) .annotations) .root.Values.extraAnnotations }}
annotations:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "firebolt-operator.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The ClusterRole that gateways are bound to; empty if every instance has its own Role. */}}
{{- define "firebolt-operator.gatewayClusterRole" -}}
{{- if .Values.gatewayWakeClusterRole.name -}}
{{- .Values.gatewayWakeClusterRole.name -}}
{{- else if .Values.gatewayWakeClusterRole.create -}}
{{- include "firebolt-operator.named" (list . "gateway-wake") -}}
{{- end -}}
{{- end -}}

{{/* A security context, without user and group IDs on OpenShift: (list . CONTEXT). */}}
{{- define "firebolt-operator.securityContext" -}}
{{- $root := index . 0 -}}
{{- $assigned := eq $root.Values.openshift "always" -}}
{{- if eq $root.Values.openshift "auto" -}}
{{- $assigned = $root.Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- end -}}
{{- $context := index . 1 -}}
{{- if $assigned -}}
{{- $context = omit $context "runAsUser" "runAsGroup" "fsGroup" "supplementalGroups" -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{/* The port of `host:port`. */}}
{{- define "firebolt-operator.port" -}}
{{- regexFind "[0-9]+$" . -}}
{{- end -}}

{{- define "firebolt-operator.certMode" -}}
{{- if .Values.webhook.certMode -}}
{{- .Values.webhook.certMode -}}
{{- else if or .Values.webhook.certSecretName .Values.webhook.caBundle -}}
secret
{{- else -}}
self-managed
{{- end -}}
{{- end -}}

{{/* The Secret that is mounted as certificate files; empty when none is. */}}
{{- define "firebolt-operator.certSecretName" -}}
{{- $mode := include "firebolt-operator.certMode" . -}}
{{- if eq $mode "secret" -}}
{{- .Values.webhook.certSecretName -}}
{{- else if ne $mode "self-managed" -}}
{{- include "firebolt-operator.named" (list . "webhook-cert") -}}
{{- end -}}
{{- end -}}
