# syntax=docker/dockerfile:1
# The operator's image: one bundled file on a Node without a shell or a package manager. `node dev/image/build.ts` makes the same image
# without a container engine. Release pipelines pin both bases by digest and pass VERSION, REVISION and CREATED.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
ARG REVISION=unknown
RUN node scripts/build.ts && node dev/image/build.ts --out /tmp/image.tar --program dist/firebolt-operator.mjs --sbom /tmp/sbom.json && rm /tmp/image.tar

FROM ${BASE_IMAGE}
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="firebolt-operator" \
      org.opencontainers.image.description="The Firebolt Kubernetes operator" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      io.firebolt.sbom="/usr/share/sbom/firebolt-operator.spdx.json"
COPY --from=build /src/dist/firebolt-operator.mjs /usr/lib/firebolt-operator/firebolt-operator.mjs
COPY --from=build /tmp/sbom.json /usr/share/sbom/firebolt-operator.spdx.json
COPY --from=build /src/LICENSE /usr/share/doc/firebolt-operator/LICENSE
ENV NODE_ENV="production" \
    NODE_OPTIONS="--max-semi-space-size=2 --max-old-space-size-percentage=75"
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/nodejs/bin/node", "/usr/lib/firebolt-operator/firebolt-operator.mjs"]
