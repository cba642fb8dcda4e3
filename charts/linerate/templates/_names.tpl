{{- /* What objects are called. */}}
{{- define "linerate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* RELEASE-linerate, or RELEASE where that has the name already. 50 characters leave room for endings. */}}
{{- define "linerate.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := include "linerate.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What belongs to no namespace has the release's namespace in its name, so that two releases don't fight over it. */}}
{{- define "linerate.clusterName" -}}
{{- $name := include "linerate.fullname" . }}
{{- if eq $name .Release.Namespace }}
{{- $name }}
{{- else }}
{{- printf "%s-%s" $name .Release.Namespace }}
{{- end }}
{{- end }}

{{- define "linerate.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "linerate.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name: without serviceAccount.create, say which ServiceAccount the manager has" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /*
How much memory Go's collector aims at: nine tenths of the limit, as the rest is for what isn't the collector's. Empty: there is no limit, or one in a unit that isn't Ki, Mi, Gi or bytes.
*/}}
{{- define "linerate.memoryLimit" -}}
{{- $limit := (((.Values.resources).limits).memory) | default "" }}
{{- if not (kindIs "string" $limit) }}
{{- $limit = $limit | int64 }}
{{- end }}
{{- $limit = $limit | toString }}
{{- range $unit, $short := dict "KiB" "Ki" "MiB" "Mi" "GiB" "Gi" "B" "" }}
{{- if regexMatch (printf "^[0-9]+%s$" $short) $limit }}
{{- $number := trimSuffix $short $limit | int64 }}
{{- if eq $unit "GiB" }}
{{- printf "%dMiB" (div (mul $number 1024 9) 10) }}
{{- else }}
{{- printf "%d%s" (div (mul $number 9) 10) $unit }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What all runners have, in the release's own namespace. */}}
{{- define "linerate.runnerAccount" -}}
{{- printf "%s-runner" (include "linerate.fullname" .) }}
{{- end }}

{{- define "linerate.selector" -}}
app.kubernetes.io/name: {{ include "linerate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "linerate.labels" -}}
{{ include "linerate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "linerate.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default (printf "v%s" $.Chart.AppVersion) .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Where the manager serves metrics: the port tells HTTPS from HTTP, so that nobody scrapes one as the other unnoticed. */}}
{{- define "linerate.metricsPort" -}}
{{ if .Values.metrics.secure }}8443{{ else }}8080{{ end }}
{{- end }}

{{- define "linerate.metricsCertificate" -}}
{{- with .Values.metrics }}
{{- if and .certificateSecret (not .secure) }}
{{- fail "metrics.certificateSecret: metrics are served without a certificate, as metrics.secure is false" }}
{{- end }}
{{- if .create }}{{ .certificateSecret }}{{ end }}
{{- end }}
{{- end }}
