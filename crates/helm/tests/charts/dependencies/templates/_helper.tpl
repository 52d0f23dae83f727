{{- define "helper" }}parent {{ .Chart.Name }}{{ end -}}
