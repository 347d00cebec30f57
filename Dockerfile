# The operator's image: one bundled file on a Node without a shell or a package manager. `node dev/images/build.ts` makes the same image
# without a container engine; `node dev/images/build-dockerfile.ts` builds this one with buildah and looks at the result.
#
# The bases are tags that move: for a build that can be repeated pass both by digest (NODE_IMAGE=…@sha256:…), and VERSION, REVISION and
# CREATED. Where there is no internet, name mirrors of the bases: NODE_IMAGE needs Node 24 with npm, BASE_IMAGE needs Node 24 at /nodejs/bin/node. A registry of your own goes into the secret npmrc, its
# certificate authority into the secret npm-ca (`cafile=/run/secrets/npm-ca`); neither is kept in the image.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BASE_IMAGE} AS base

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY packages/kube/package.json packages/kube/
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=npm-ca \
    npm ci --no-audit --no-fund
COPY . .
# The list of contents names the Node that the image really has.
COPY --from=base /nodejs/bin/node /base/node
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
RUN node dev/images/build.ts --files /image --node /base/node --revision "${REVISION}" --created "${CREATED}"

FROM base
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
COPY --from=build /image/ /
ENV NODE_ENV="production" \
    NODE_OPTIONS="--max-semi-space-size=2 --max-old-space-size-percentage=75 --v8-pool-size=1" \
    MALLOC_ARENA_MAX="1"
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/nodejs/bin/node", "--memory-saver-mode", "--no-concurrent-recompilation", "/usr/lib/firebolt-operator/firebolt-operator.mjs"]
