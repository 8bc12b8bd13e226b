# The service without the embedded database: PostgreSQL and the platform's address come from the environment.
# The base by its exact version; `npm run test:image` runs npm's build of the same one. A digest would name its bytes too, but
# where this file was written no registry of images can be asked. With one at hand:
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim
# and `@sha256:...` behind both names.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY schematics/package.json ./schematics/
COPY simulator/package.json ./simulator/
# With the optional packages: Vite's compiler for this machine is one of them.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
# The Nest CLI lists its generators whatever it is asked to do, so a build reads their collection too.
COPY schematics ./schematics
COPY migrations ./migrations
COPY simulator ./simulator
COPY console ./console
COPY clients ./clients
COPY scripts/pack-client.mjs ./scripts/
COPY src ./src
# What only the build needs goes again: the packages that stay are those of the lock file.
RUN npx nest build && npx vite build console && npx vite build --config console/vite.setup.config.ts && node scripts/pack-client.mjs && rm -f dist/*.tsbuildinfo \
  && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && npm pkg delete devDependencies \
  && npm sbom --omit=optional --sbom-format=cyclonedx >sbom.cdx.json

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="Herald" \
  org.opencontainers.image.description="Self-hosted messaging API in front of the WhatsApp Business Platform" \
  org.opencontainers.image.documentation="docs/operations.md"
ENV NODE_ENV=production PORT=3000 DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY scripts/herald.mjs ./scripts/
COPY --from=build /app/sbom.cdx.json ./
COPY package.json ./
# `docker compose exec worker herald doctor`
RUN chmod +x scripts/herald.mjs && ln -s /app/scripts/herald.mjs /usr/local/bin/herald
USER node
VOLUME /data
EXPOSE 3000
# Processes without the role api answer this too.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# ROLES says what this container does: api, worker, or both. SIGTERM stops it gracefully.
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
