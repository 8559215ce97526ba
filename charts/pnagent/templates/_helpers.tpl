{{/* The name of the release's objects. */}}
{{- define "pnagent.name" -}}
{{- if contains "pnagent" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-pnagent{{ end }}
{{- end }}

{{/* What selects the pods of the release. */}}
{{- define "pnagent.selector" -}}
app.kubernetes.io/name: pnagent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pnagent.labels" -}}
{{ include "pnagent.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The flags that name a file, as a configuration. */}}
{{- define "pnagent.files" -}}
{{- range $flag, $_ := .Values.files }}
{{ $flag }}: /etc/pnagent/files/{{ $flag }}
{{- end }}
{{- end }}

{{/* The configurations of the sidecars, by name, as YAML. */}}
{{- define "pnagent.sidecars" -}}
{{- $own := dict "web.listen-address" ":9797" "mib-dir" "/var/lib/pnagent" }}
{{- $files := include "pnagent.files" . | fromYaml }}
{{- $config := merge (dict) $own $files .Values.config }}
{{- if .Values.snmp.enabled }}
{{- $_ := set $config "snmp" ":1161" }}
{{- end }}
{{- $sidecars := dict "sidecar" $config }}
{{- if eq .Values.mode "pair" }}
{{- $state := dict "alarm-state" "/var/lib/pnagent/alarms.state" "state-dir" "/var/lib/pnagent/counters" }}
{{- if .Values.pair.claim }}
{{- $_ := set $state "mib-dir" "/var/lib/pnagent-pair" }}
{{- end }}
{{- $sidecars = dict "primary" (merge (dict "agentx.priority" 100) $state $config) "standby" (merge (dict "agentx.priority" 127) $state $config) }}
{{- else if eq .Values.mode "tree" }}
{{- $below := merge (dict "up" .Values.tree.prefix) $own .Values.tree.config }}
{{- range $key, $value := $config }}
{{- if hasPrefix "nats" $key }}
{{- $_ := set $below $key $value }}
{{- end }}
{{- end }}
{{- $sidecars = dict "root" (merge (dict "nats.prefix" .Values.tree.prefix) $config) }}
{{- $shares := int .Values.tree.shares }}
{{- range $i := untilStep 1 (int (add1 $shares)) 1 }}
{{- $name := printf "below-%d" $i }}
{{- $_ := set $sidecars $name (merge (dict "share" (printf "%d/%d" $i $shares) "up.source" $name) $below) }}
{{- end }}
{{- end }}
{{- $sidecars | toYaml }}
{{- end }}

{{/* The name of the objects of a sidecar: of a dict with root and name. */}}
{{- define "pnagent.sidecar" -}}
{{ include "pnagent.name" .root }}{{ if ne .name "sidecar" }}-{{ .name }}{{ end }}
{{- end }}

{{/*
A process of its own, with its service and its state, of a dict:
root; component, which is unique in the release; name, of its objects; args; port, of HTTP; probes; env;
files, those that it gets; config, a change of which starts it again; snmp, whether it answers; claim, that of
a pair; account, if it has one of its own.
*/}}
{{- define "pnagent.process" -}}
{{- $values := .root.Values -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels:
    {{- include "pnagent.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  selector:
    {{- include "pnagent.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  ports:
    - {name: http, port: {{ .port }}, targetPort: http}
    {{- if .snmp }}
    - {name: snmp, port: {{ $values.snmp.port }}, targetPort: snmp, protocol: UDP}
    {{- end }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .name }}
  labels:
    {{- include "pnagent.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: 1 # one writer of the state
  serviceName: {{ .name }}
  selector:
    matchLabels:
      {{- include "pnagent.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "pnagent.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        checksum/config: {{ print .config $values.nets | sha256sum }}
    spec:
      serviceAccountName: {{ .account | default (include "pnagent.name" .root) }}
      automountServiceAccountToken: {{ not (empty .account) }}
      {{- with $values.image.pullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile: {type: RuntimeDefault}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      affinity: # the sidecars of a release are on different nodes, where there are several
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels:
                    {{- include "pnagent.selector" .root | nindent 20 }}
      containers:
        - name: pnagent
          image: {{ $values.image.name | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: {{- toYaml .args | nindent 12 }}
          {{- with concat $values.env (.env | default list) }}
          env: {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - {name: http, containerPort: {{ .port }}}
            {{- if .snmp }}
            - {name: snmp, containerPort: 1161, protocol: UDP}
            {{- end }}
          {{- toYaml .probes | nindent 10 }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: state, mountPath: /var/lib/pnagent}
            - {name: config, mountPath: /etc/pnagent/config, readOnly: true}
            - {name: nets, mountPath: /etc/pnagent/nets, readOnly: true}
            {{- with .files }}
            - {name: files, mountPath: /etc/pnagent/files, readOnly: true}
            {{- end }}
            {{- with .claim }}
            - {name: pair, mountPath: /var/lib/pnagent-pair}
            {{- end }}
      volumes:
        - name: config
          configMap: {name: {{ include "pnagent.name" .root }}}
        - name: nets
          configMap: {name: {{ include "pnagent.name" .root }}-nets}
        {{- with .files }}
        - name: files
          projected:
            defaultMode: 0440
            sources:
              {{- range $flag, $from := . }}
              - secret:
                  name: {{ $from.secret }}
                  items: [{key: {{ $from.key | quote }}, path: {{ $flag }}}]
              {{- end }}
        {{- end }}
        {{- with .claim }}
        - name: pair
          persistentVolumeClaim: {claimName: {{ . }}}
        {{- end }}
  volumeClaimTemplates:
    - metadata:
        name: state
      spec:
        accessModes: [ReadWriteOnce]
        {{- with $values.persistence.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests: {storage: {{ $values.persistence.size }}}
{{- end }}
