{{/* What several templates share: names, labels, the container and its environment. */}}

{{- define "gerbang.labels" -}}
app.kubernetes.io/name: gerbang
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gerbang.selector" -}}
app.kubernetes.io/name: gerbang
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "gerbang.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* Of every pod: no rights in the cluster or on the node. fsGroup lets its user, and nobody else, read the mounted secrets. */}}
{{- define "gerbang.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "gerbang.container" -}}
image: {{ include "gerbang.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The environment of the service; its secrets are files. */}}
{{- define "gerbang.serviceEnvironment" -}}
- { name: NODE_ENV, value: production }
- { name: BASE_URL, value: {{ .Values.baseUrl | quote }} }
- { name: PORT, value: "8080" }
- { name: METRICS_PORT, value: "8081" }
- { name: OPS_PORT, value: "8082" }
- { name: HOST, value: 0.0.0.0 }
- { name: METRICS_HOST, value: 0.0.0.0 }
- { name: OPS_HOST, value: 0.0.0.0 }
- { name: OPS_TRUST_PROXY, value: "0" }
- { name: DRAIN_SECONDS, value: "5" }
- { name: MASTER_KEY_FILE, value: /etc/gerbang/secrets/master-key }
- { name: OPERATOR_TOKEN_FILE, value: /etc/gerbang/secrets/operator-token }
- { name: DATABASE_URL_FILE, value: /etc/gerbang/secrets/database-url }
{{- if .Values.secrets.acquirers }}
- { name: ACQUIRERS_FILE, value: /etc/gerbang/acquirers/acquirers.json }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{/* Volumes and their mounts: a secret of its own name, the database's authority, room for files. */}}
{{- define "gerbang.mounts" -}}
- { name: secrets, mountPath: /etc/gerbang/secrets, readOnly: true }
{{- if .Values.secrets.databaseCa }}
- { name: database-ca, mountPath: /etc/gerbang/database-ca, readOnly: true }
{{- end }}
- { name: data, mountPath: /var/lib/gerbang }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "gerbang.volumes" -}}
- name: secrets
  secret: { secretName: {{ .secret }}, defaultMode: 0400 }
{{- if .root.Values.secrets.databaseCa }}
- name: database-ca
  secret: { secretName: {{ .root.Values.secrets.databaseCa }} }
{{- end }}
- name: data
  emptyDir: { sizeLimit: 64Mi }
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- end }}
