{{/* What several templates share: names, labels, the container and its environment. */}}

{{/* The alerts know the nightly verification by a name with "gerbang-verify" in it. */}}
{{- define "gerbang.verification" -}}
{{ ternary .Release.Name (printf "%s-gerbang" .Release.Name) (hasSuffix "gerbang" .Release.Name) }}-verify
{{- end }}

{{/* What the cluster would refuse after the migration, or what would hide in a list of variables, is refused before anything is done. */}}
{{- define "gerbang.check" -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" .Release.Name) }}
{{- fail (printf "The release's name %q names Services: it begins with a letter, and has small letters, digits and dashes alone." .Release.Name) }}
{{- end }}
{{- if gt (len (include "gerbang.verification" .)) 52 }}
{{- fail (printf "The release's name %q is too long: 37 characters are room enough, or 45 when they end in gerbang." .Release.Name) }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if regexMatch "^(MASTER_KEY(_SECOND)?|OPERATOR_(VIEWER_)?TOKEN|(MIGRATION_)?DATABASE_URL|SMTP_URL)$" $name }}
{{- fail (printf "settings.%s: whoever may look at the pods or the release would read it. It is a key of the secret that secrets.service names, and its file is what a setting ending in _FILE names." $name) }}
{{- end }}
{{- if regexMatch "^(NODE_ENV|BASE_URL|GERBANG_DATA|(OPS_|METRICS_)?(PORT|HOST)|(MASTER_KEY|OPERATOR_TOKEN|(MIGRATION_)?DATABASE_URL|ACQUIRERS)_FILE)$" $name }}
{{- fail (printf "settings.%s: the chart gives this one itself, by baseUrl, by secrets, or as its own ports and volumes are." $name) }}
{{- end }}
{{- end }}
{{- end }}

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
- { name: MASTER_KEY_FILE, value: /etc/gerbang/secrets/master-key }
- { name: OPERATOR_TOKEN_FILE, value: /etc/gerbang/secrets/operator-token }
- { name: DATABASE_URL_FILE, value: /etc/gerbang/secrets/database-url }
{{- if .Values.secrets.acquirers }}
- { name: ACQUIRERS_FILE, value: /etc/gerbang/acquirers/acquirers.json }
{{- end }}
{{- /* toJson writes a large number as its digits, where quote alone would write 6e+06. */}}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }} }
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
