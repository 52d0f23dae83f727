{{- define "shared.name" }}shared {{ .Chart.Name }}{{ end -}}
