# A worker of a platform. Add the tools that your agents need. Build as platform.Dockerfile.
ARG BASE=node:22-bookworm-slim
FROM ${BASE}
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git ripgrep \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 10001 worker
COPY release/npm/agentcli-worker-[0-9]*.tgz /tmp/worker.tgz
RUN npm install --global --ignore-scripts /tmp/worker.tgz && npm cache clean --force && rm /tmp/worker.tgz
USER worker
WORKDIR /home/worker
CMD ["agent", "worker", "start"]
