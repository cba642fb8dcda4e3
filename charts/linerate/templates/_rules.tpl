{{- /*
The manager's rules come from generated/role.yaml, a copy of the project's config/rbac/role.yaml. Resources that belong to no namespace need a
ClusterRole in any case; the others a Role in each namespace where watchNamespaces is set.
*/}}
{{- define "linerate.isClusterRule" -}}
{{- if or (has "nodes" .resources) (has "customresourcedefinitions" .resources) }}true{{ end }}
{{- end }}

{{- define "linerate.clusterRules" -}}
{{- range (.Files.Get "generated/role.yaml" | fromYaml).rules }}
{{- if include "linerate.isClusterRule" . }}
{{ list . | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{- define "linerate.namespaceRules" -}}
{{- range (.Files.Get "generated/role.yaml" | fromYaml).rules }}
{{- if not (include "linerate.isClusterRule" .) }}
{{ list . | toYaml }}
{{- end }}
{{- end }}
{{- end }}
