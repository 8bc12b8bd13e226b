{{- define "herald.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "herald.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "herald.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "herald.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "herald.selectorLabels" -}}
app.kubernetes.io/name: {{ include "herald.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "herald.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "herald.selectorLabels" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "herald.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "herald.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "herald.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* What every process has, whatever its role. Takes the root context. */}}
{{- define "herald.config" -}}
NODE_ENV: production
DATA_DIR: /data
HOST: 0.0.0.0
PORT: '3000'
LOG_FORMAT: json
# The Job does it.
DATABASE_MIGRATE: 'false'
SHUTDOWN_TIMEOUT_MS: {{ .Values.shutdown.timeoutMs | int64 | quote }}
SHUTDOWN_DRAIN_MS: {{ .Values.shutdown.drainMs | int64 | quote }}
{{- if .Values.ingress.enabled }}
{{- if not (hasKey .Values.config "PUBLIC_URL") }}
PUBLIC_URL: {{ ternary "https" "http" (gt (len .Values.ingress.tls) 0) }}://{{ .Values.ingress.host }}
{{- end }}
{{- if not (hasKey .Values.config "TRUST_PROXY") }}
# One hop: the ingress controller.
TRUST_PROXY: '1'
{{- end }}
{{- end }}
{{- range $name, $value := .Values.config }}
{{- /* A number of values is a float64, which would be written as 2e+06. */}}
{{ $name }}: {{ if and (kindIs "float64" $value) (eq (toString (floor $value)) (toString $value)) }}{{ $value | int64 | quote }}{{ else }}{{ $value | toString | quote }}{{ end }}
{{- end }}
{{- end -}}

{{/* Names of the settings in `secrets` that a component reads, as JSON. Takes a dict of `root` and `component`. */}}
{{- define "herald.secretNames" -}}
{{- $names := list -}}
{{- range $name, $ref := .root.Values.secrets.settings -}}
{{- if kindIs "map" $ref -}}
{{- if or (eq $.component "api") (and (eq $.component "worker") (not (hasPrefix "WHATSAPP_" $name))) (and (eq $.component "migrate") (hasPrefix "DATABASE_" $name)) -}}
{{- $names = append $names $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $names | toJson -}}
{{- end -}}

{{/* Name of the Secret of a setting. Takes a dict of `root` and `name`. */}}
{{- define "herald.secretOf" -}}
{{- $ref := index .root.Values.secrets.settings .name -}}
{{- required (printf "set secrets.existingSecret, or secrets.settings.%s.secret" .name) ($ref.secret | default .root.Values.secrets.existingSecret) -}}
{{- end -}}

{{- define "herald.keyOf" -}}
{{- (index .root.Values.secrets.settings .name).key | default .name -}}
{{- end -}}

{{- define "herald.secretEnv" -}}
{{- range $name := include "herald.secretNames" . | fromJsonArray }}
- name: {{ $name }}_FILE
  value: /run/secrets/herald/{{ $name }}
{{- end }}
{{- end -}}

{{- define "herald.secretVolume" -}}
- name: secrets
  projected:
    # Owned by root; fsGroup lets the user of the container read it.
    defaultMode: 0440
    sources:
      {{- range $name := include "herald.secretNames" . | fromJsonArray }}
      - secret:
          name: {{ include "herald.secretOf" (dict "root" $.root "name" $name) }}
          items:
            - key: {{ include "herald.keyOf" (dict "root" $.root "name" $name) }}
              path: {{ $name }}
      {{- end }}
{{- end -}}

{{- define "herald.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
# Not file by file through all media at each start.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "herald.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* On which nodes, and how urgently: of the values of api, worker or migrate. */ -}}
{{- define "herald.scheduling" -}}
{{- range $name := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $ $name }}
{{ dict $name . | toYaml }}
{{- end }}
{{- end }}
{{- end -}}
