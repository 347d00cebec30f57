{{/* The manager's command line. Flags with the manager's default value are omitted, so that older versions work too. */}}
{{- define "firebolt-operator.args" -}}
{{- $v := .Values -}}
{{- with $v.watchNamespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- with $v.watchLabelSelector }}
- {{ printf "--watch-label-selector=%s" . | quote }}
{{- end }}
{{- if $v.leaderElection.enabled }}
- --leader-elect
{{- end }}
- --health-probe-bind-address={{ $v.healthProbeBindAddress }}
{{- if $v.metrics.enabled }}
- --metrics-bind-address={{ $v.metrics.bindAddress }}
- --metrics-secure={{ $v.metrics.secure }}
{{- else }}
- --metrics-bind-address=0
{{- end }}
{{- include "firebolt-operator.webhookArgs" . }}
{{- with $v.engineResourceBounds.maxCPU }}
- {{ printf "--engine-max-cpu=%v" . | quote }}
{{- end }}
{{- with $v.engineResourceBounds.maxMemory }}
- {{ printf "--engine-max-memory=%v" . | quote }}
{{- end }}
{{- with $v.engineResourceBounds.maxEphemeralStorage }}
- {{ printf "--engine-max-ephemeral-storage=%v" . | quote }}
{{- end }}
{{- if $v.wakeAgent.enabled }}
- --wake-agent-image={{ include "firebolt-operator.image" . }}
- --wake-agent-image-pull-policy={{ $v.image.pullPolicy }}
{{- end }}
{{- if ne $v.wakeAgent.mode "annotation" }}
- --wake-mode={{ $v.wakeAgent.mode }}
{{- end }}
{{- if ne $v.gateway.accessLog "all" }}
- --gateway-access-log={{ $v.gateway.accessLog }}
{{- end }}
{{- with include "firebolt-operator.gatewayClusterRole" . }}
- --gateway-wake-cluster-role={{ . }}
{{- end }}
{{- if ne $v.metadata.configFormat "xml" }}
- --metadata-config-format={{ $v.metadata.configFormat }}
{{- end }}
{{- range $name, $flag := dict "engine" "engine" "metadata" "metadata" "envoy" "envoy" "postgres" "postgres" "engineWeb" "engine-web" }}
{{- with index $v.defaultImages $name }}
- --default-image-{{ $flag }}={{ . }}
{{- end }}
{{- end }}
{{- if ne $v.podSecurity.componentSeccomp "RuntimeDefault" }}
- --component-seccomp={{ $v.podSecurity.componentSeccomp }}
{{- end }}
{{- if not $v.podSecurity.componentUserIds }}
- --component-user-ids=false
{{- end }}
{{- if ne $v.podSecurity.engineSeccomp "none" }}
- --engine-seccomp={{ $v.podSecurity.engineSeccomp }}
{{- end }}
{{- with $v.controllers.concurrency }}
- --max-concurrent-reconciles=engine={{ int .engine }},instance={{ int .instance }},engineclass={{ int .engineclass }}
{{- end }}
{{- if ne $v.controllers.drainSettle "35s" }}
- --drain-settle={{ $v.controllers.drainSettle }}
{{- end }}
{{- if $v.kubeApi.qps }}
- --kube-api-qps={{ $v.kubeApi.qps }}
{{- end }}
{{- if $v.kubeApi.burst }}
- --kube-api-burst={{ int $v.kubeApi.burst }}
{{- end }}
{{- if $v.telemetry.enabled }}
- --telemetry
- --telemetry-endpoint={{ $v.telemetry.endpoint }}
{{- end }}
{{- if $v.logging.development }}
- --zap-devel=true
{{- else }}
- --zap-encoder={{ $v.logging.encoder }}
- --zap-log-level={{ $v.logging.level }}
- --zap-stacktrace-level={{ $v.logging.stacktraceLevel }}
{{- end }}
{{- range $v.additionalArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "firebolt-operator.webhookArgs" -}}
{{- if .Values.webhook.enabled }}
- --enable-webhooks=true
- --webhook-port={{ int .Values.webhook.port }}
{{- if eq (include "firebolt-operator.certMode" .) "self-managed" }}
- --webhook-cert-mode=self-managed
- --webhook-cert-secret={{ include "firebolt-operator.named" (list . "webhook-cert") }}
- --webhook-service={{ include "firebolt-operator.named" (list . "webhook") }}
- --webhook-configuration={{ include "firebolt-operator.fullname" . }}
{{- else }}
- --webhook-cert-mode=files
- --webhook-cert-path={{ .Values.webhook.certDir }}
{{- end }}
{{- else }}
- --enable-webhooks=false
{{- end }}
{{- end -}}
