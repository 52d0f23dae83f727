{{- define "helper" }}worker {{ .Chart.Name }}{{ end -}}
