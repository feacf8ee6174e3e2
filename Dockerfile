# A server with its memory in /data, or in Postgres (see compose.yaml). Make a key with: docker exec CONTAINER doxa keys add
# For a Ray cluster (deploy/): docker build --build-arg EXTRAS=server,postgres,cluster -t doxa-cluster .
ARG EXTRAS=server,postgres
FROM python:3.12-slim AS build
ARG EXTRAS
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels ".[$EXTRAS]"

FROM python:3.12-slim
ARG EXTRAS
RUN useradd --uid 10001 --create-home doxa && install -d -o doxa -g doxa /data
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "doxa[$EXTRAS]"
RUN case "$EXTRAS" in *cluster*) apt-get update && apt-get install -y --no-install-recommends wget \
    && rm -rf /var/lib/apt/lists/* ;; esac  # the probes of KubeRay ask with it
USER doxa
WORKDIR /data
VOLUME /data
ENV DOXA_DB=/data/memory.db DOXA_SERVER_HOST=0.0.0.0 DOXA_SERVER_PORT=8377 DOXA_SERVER_LOGS=json
EXPOSE 8377
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8377/readyz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["doxa"]
CMD ["serve"]
