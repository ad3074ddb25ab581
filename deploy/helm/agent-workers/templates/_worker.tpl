{{- define "worker.pod" -}}
restartPolicy: OnFailure
automountServiceAccountToken: false
containers:
  - name: worker
    image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
    args: [agent, worker, start, --single-use, --idle-release-timeout, "{{ .Values.idleReleaseTimeoutSeconds }}", --management-addr, "0.0.0.0:8080"]
    resources: {{- toYaml .Values.workerResources | nindent 6 }}
    readinessProbe:
      httpGet: { path: /readyz, port: 8080 }
    livenessProbe:
      httpGet: { path: /healthz, port: 8080 }
    # The sandbox of agents needs user namespaces and its own /proc.
    securityContext:
      runAsNonRoot: true
      procMount: Unmasked
      seccompProfile: { type: Unconfined }
{{- end -}}
