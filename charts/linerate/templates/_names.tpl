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
