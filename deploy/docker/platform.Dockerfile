# The platform. Build from the top of the repository, after `npm run release:dry -- --parts npm`:
#   docker build -f deploy/docker/platform.Dockerfile -t platform .
ARG BASE=node:22-bookworm-slim
FROM ${BASE}
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git openssh-client ripgrep \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 10001 platform \
  && install --directory --owner=platform --mode=0700 /data
COPY release/npm/agentcli-platform-[0-9]*.tgz /tmp/platform.tgz
RUN npm install --global --ignore-scripts /tmp/platform.tgz && npm cache clean --force && rm /tmp/platform.tgz
USER platform
ENV PLATFORM_DATA=/data PLATFORM_LISTEN=0.0.0.0:7420
VOLUME /data
EXPOSE 7420
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD node -e "fetch('http://127.0.0.1:7420/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
CMD ["platform", "serve"]
