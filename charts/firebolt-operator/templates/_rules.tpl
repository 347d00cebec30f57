{{/* The manager's permissions, for a ClusterRole or for a Role in each watched namespace. They are the minimum:
test/chart/rbac.integration.test.ts compares them with the requests that the API server received. */}}
{{- define "firebolt-operator.managerRules" -}}
# The three kinds: finalizers, the instance's id, the engine's replicas.
- apiGroups: [compute.firebolt.io]
  resources: [fireboltinstances, fireboltengines]
  verbs: [get, list, watch, patch]
- apiGroups: [compute.firebolt.io]
  resources: [fireboltengineclasses]
  # Only admission reads a class directly.
  verbs: [{{ if .Values.webhook.enabled }}get, {{ end }}list, watch, patch]
- apiGroups: [compute.firebolt.io]
  resources: [fireboltinstances/status, fireboltengines/status, fireboltengineclasses/status]
  verbs: [patch]
# Owner references with blockOwnerDeletion, where the cluster checks them.
- apiGroups: [compute.firebolt.io]
  resources: [fireboltinstances/finalizers, fireboltengines/finalizers]
  verbs: [update]
# Objects of instances and engines. A server-side apply of a new object needs create and patch.
- apiGroups: [""]
  resources: [configmaps, services, serviceaccounts]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments, statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
# The built-in PostgreSQL's password, and Secrets that instances name. Only metadata is watched: contents are never held in memory.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, watch, create, patch, delete]
# The built-in PostgreSQL's volume: whether it is still the one with the catalogue; patched to grow.
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, patch, delete]
# Pods are deleted only if their StatefulSet was deleted without them.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, delete]
# The cause why a StatefulSet creates no pods.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
# The gateways' identity.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [{{ if not (include "firebolt-operator.gatewayClusterRole" .) }}roles, {{ end }}rolebindings]
  verbs: [get, list, watch, create, patch, delete]
{{- if .Values.wakeAgent.enabled }}
# Granted to the gateways: the manager can only grant permissions that it has.
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{/* The gateways' permissions for a shared ClusterRole: the same rules that the manager writes into Roles otherwise. */}}
{{- define "firebolt-operator.gatewayRules" -}}
{{- if eq .Values.wakeAgent.mode "annotation" }}
- apiGroups: [compute.firebolt.io]
  resources: [fireboltengines]
  verbs: [get, list, {{ if .Values.wakeAgent.enabled }}watch, {{ end }}patch]
{{- end }}
{{- if .Values.wakeAgent.enabled }}
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- define "firebolt-operator.proxyRules" -}}
- apiGroups: [""]
  resources: [pods/proxy]
  verbs: [get]
{{- end -}}

{{/* A role for the manager and its binding: (dict "root" . "suffix" S "rules" R "namespace" NS); without a namespace, for the cluster. */}}
{{- define "firebolt-operator.boundRole" -}}
{{- $scope := ternary "Role" "ClusterRole" (not (empty .namespace)) -}}
{{- $name := include "firebolt-operator.named" (list .root .suffix) -}}
{{- $metadata := dict "root" .root "name" $name "namespace" .namespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $scope }}
metadata:
  {{- include "firebolt-operator.metadata" $metadata | nindent 2 }}
rules:
  {{- .rules | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $scope }}Binding
metadata:
  {{- include "firebolt-operator.metadata" $metadata | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $scope }}
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "firebolt-operator.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}
