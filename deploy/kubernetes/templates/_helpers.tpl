{{- define "tamis.labels" -}}
app.kubernetes.io/name: tamis
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tamis.selector" -}}
app.kubernetes.io/name: tamis
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tamis.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The sides that are served, as the processes read SERVICES. */}}
{{- define "tamis.services" -}}
{{ .Values.settings.SERVICES | default "documents,proxy" | toString | nospace }}
{{- end }}

{{/* The proxy's own port; empty where it has none, since one side alone listens on one port. */}}
{{- define "tamis.proxyPort" -}}
{{- $services := splitList "," (include "tamis.services" .) }}
{{- if and .Values.gateway.proxyPort (has "documents" $services) (has "proxy" $services) }}
{{- .Values.gateway.proxyPort }}
{{- end }}
{{- end }}

{{/* Whether any of the queues has work; a worker of others alone refuses to start. */}}
{{- define "tamis.hasWork" -}}
{{- $services := splitList "," (include "tamis.services" .root) }}
{{- range .queues }}
{{- if eq . "migrations" }}true{{ end }}
{{- if and (eq . "alerts") (has "proxy" $services) }}true{{ end }}
{{- if and (has . (list "documents" "models")) (has "documents" $services) }}true{{ end }}
{{- end }}
{{- end }}

{{/* What every pod has but its container's own part. */}}
{{- define "tamis.pod" -}}
serviceAccountName: {{ .root.Release.Name }}-tamis
automountServiceAccountToken: false
# Variables of Services in the namespace, such as REDIS_PORT, are not for us.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tamis.selector" . | nindent 8 }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  # Uploads on their way through a parser, and the sign of life of a worker.
  - name: scratch
    emptyDir: {}
  {{- range $index, $certificate := .root.Values.certificates }}
  - name: certificates-{{ $index }}
    secret:
      secretName: {{ $certificate.secretName }}
      defaultMode: 0440
  {{- end }}
  {{- with .root.Values.models.claimName }}
  - name: models
    persistentVolumeClaim:
      claimName: {{ . }}
      readOnly: true
  {{- end }}
  {{- with .root.Values.backups.claimName }}
  - name: backups
    persistentVolumeClaim:
      claimName: {{ . }}
  {{- end }}
{{- end }}

{{/* What every container has but its command, ports and probes. */}}
{{- define "tamis.container" -}}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
envFrom:
  - configMapRef:
      name: {{ .root.Release.Name }}-tamis
  - secretRef:
      name: {{ .root.Values.secretName }}
volumeMounts:
  - name: scratch
    mountPath: /tmp
  {{- range $index, $certificate := .root.Values.certificates }}
  - name: certificates-{{ $index }}
    mountPath: {{ $certificate.mountPath }}
    readOnly: true
  {{- end }}
  {{- if .root.Values.models.claimName }}
  - name: models
    mountPath: {{ .root.Values.models.mountPath }}
    readOnly: true
  {{- end }}
  {{- if .root.Values.backups.claimName }}
  - name: backups
    mountPath: {{ .root.Values.backups.mountPath }}
  {{- end }}
{{- end }}
