{{/* Rules that the schema cannot express: values that contradict each other. */}}
{{- define "firebolt-operator.checks" -}}
{{- $v := .Values -}}
{{- if and (gt (int $v.replicaCount) 1) (not $v.leaderElection.enabled) -}}
{{- fail "replicaCount: more than one replica needs leaderElection.enabled=true" -}}
{{- end -}}
{{- if and $v.telemetry.enabled (not $v.telemetry.endpoint) -}}
{{- fail "telemetry.endpoint: required with telemetry.enabled=true; there is no built-in one" -}}
{{- end -}}
{{- if $v.webhook.enabled -}}
{{- $mode := include "firebolt-operator.certMode" . -}}
{{- if eq $mode "secret" -}}
{{- $mounted := false -}}
{{- range $v.extraVolumeMounts -}}
{{- if eq .mountPath $v.webhook.certDir -}}{{- $mounted = true -}}{{- end -}}
{{- end -}}
{{- if not (or $v.webhook.certSecretName $mounted) -}}
{{- fail "webhook.certSecretName: required with webhook.certMode=secret, unless extraVolumeMounts mounts something at webhook.certDir" -}}
{{- end -}}
{{- else if $v.webhook.certSecretName -}}
{{- fail (printf "webhook.certSecretName: only used with webhook.certMode=secret, not %s" $mode) -}}
{{- end -}}
{{- if and (eq $mode "cert-manager") (not (.Capabilities.APIVersions.Has "cert-manager.io/v1")) (lookup "v1" "Namespace" "" "kube-system") -}}
{{- fail "webhook.certMode=cert-manager: this cluster does not serve cert-manager.io/v1; install cert-manager first, or choose self-managed" -}}
{{- end -}}
{{- end -}}
{{- end -}}
