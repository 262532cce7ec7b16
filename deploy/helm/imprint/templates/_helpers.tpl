{{- define "imprint.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "imprint.version" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "imprint.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ include "imprint.version" . }}{{ end }}
{{- end }}

{{- /* Labels by which objects of this release find their pods. Takes a list: root, component. */ -}}
{{- define "imprint.selector" -}}
app.kubernetes.io/name: imprint
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- /* All labels of an object. Takes a list: root, component. */ -}}
{{- define "imprint.labels" -}}
{{ include "imprint.selector" . }}
app.kubernetes.io/part-of: imprint
app.kubernetes.io/version: {{ include "imprint.version" (index . 0) | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Values have no integers: 10485760 would be written 1.048576e+07. */ -}}
{{- define "imprint.setting" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- /* Secrets that not every process may know, by process, as docker-compose.yml hands them out. */ -}}
{{- define "imprint.secretsOf" -}}
api: [IMPRINT_DATABASE_APP_URL, IMPRINT_BROKER_URL, IMPRINT_RECEIPT_KEY, IMPRINT_SECRETS_KEY]
router: [IMPRINT_DATABASE_APP_URL, IMPRINT_DATABASE_ROUTER_URL, IMPRINT_BROKER_URL]
worker-io: [IMPRINT_DATABASE_APP_URL, IMPRINT_BROKER_URL, IMPRINT_RECEIPT_KEY, IMPRINT_SECRETS_KEY]
worker-cpu: [IMPRINT_DATABASE_APP_URL, IMPRINT_BROKER_URL, IMPRINT_RECEIPT_KEY]
clock: [IMPRINT_DATABASE_ROUTER_URL, IMPRINT_BROKER_URL]
migrate: [IMPRINT_DATABASE_URL, IMPRINT_DATABASE_APP_URL, IMPRINT_DATABASE_ROUTER_URL, IMPRINT_BROKER_URL]
{{- end }}

{{- define "imprint.commands" -}}
api: [imprint, serve]
router: [imprint, router]
worker-io: [imprint, worker, --queue, io]
worker-cpu: [imprint, worker, --queue, cpu]
clock: [imprint, clock]
migrate: [imprint, db, upgrade]
{{- end }}

{{- /* Processes that reach beyond the cluster, as in docker-compose.yml. */ -}}
{{- define "imprint.outside" -}}
[api, router, worker-io, worker-cpu]
{{- end }}

{{- /* Environment of a process. Takes a list: root, component. */ -}}
{{- define "imprint.environment" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $secretsOf := include "imprint.secretsOf" $root | fromYaml }}
{{- $confined := concat $secretsOf.api $secretsOf.router $secretsOf.migrate | uniq }}
{{- range $name, $value := $root.Values.settings }}
{{- if ne (toString $value) "" }}
- {name: {{ $name }}, value: {{ include "imprint.setting" $value | quote }}}
{{- end }}
{{- end }}
{{- range $name, $reference := $root.Values.secrets }}
{{- if or (has $name (index $secretsOf $component)) (not (has $name $confined)) }}
- name: {{ $name }}
  valueFrom: {secretKeyRef: {name: {{ $reference.name }}, key: {{ $reference.key }}}}
{{- end }}
{{- end }}
{{- if hasPrefix "worker-" $component }}
- {name: PROMETHEUS_MULTIPROC_DIR, value: /run/imprint-metrics}
{{- end }}
{{- end }}

{{- /* What the container of every process has. Takes a list: root, component, resources, volumeMounts. */ -}}
{{- define "imprint.container" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 -}}
name: {{ $component }}
image: {{ include "imprint.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: {{ index (include "imprint.commands" $root | fromYaml) $component | toJson }}
env:
  {{- include "imprint.environment" (list $root $component) | nindent 2 }}
resources:
  {{- index . 2 | toYaml | nindent 2 }}
securityContext:
  {{- include "imprint.containerSecurity" $root | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- if hasPrefix "worker-" $component }}
  - {name: metrics, mountPath: /run/imprint-metrics}
  {{- end }}
  {{- with index . 3 }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "imprint.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* What every pod has. Takes a list: root, component, volumes. */ -}}
{{- define "imprint.pod" -}}
{{- $root := index . 0 -}}
automountServiceAccountToken: false
enableServiceLinks: false
# The pause process adopts orphans, as `init: true` of the compose file does, and no process of ours has the id 1,
# for which a signal that it does not handle yet has no effect.
shareProcessNamespace: true
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with $root.Values.affinity }}
affinity: {{ toJson . }}
{{- end }}
volumes:
  - {name: tmp, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
  {{- if hasPrefix "worker-" (index . 1) }}
  - {name: metrics, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
  {{- end }}
  {{- with index . 2 }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- /* Whether something else than the Deployment says how many replicas a process has. */ -}}
{{- define "imprint.isScaled" -}}
{{- $scaling := (index . 0).Values.autoscaling }}
{{- if or (and (eq (index . 1) "api") $scaling.api.enabled) (and (hasPrefix "worker-" (index . 1)) $scaling.workers.enabled) }}yes{{ end }}
{{- end }}
