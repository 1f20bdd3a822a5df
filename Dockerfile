# ReasoningBank in a container: as an MCP server over stdio, which is what it does by default, and as the team daemon.
#   docker build -t reasoning-bank .
# For one person, in the root of the project whose memories are meant:
#   docker run -i --rm -v reasoning-bank:/data -v "$PWD:$PWD:ro" -w "$PWD" -e OPENROUTER_API_KEY reasoning-bank
# Without a model: the same without -e, and with `--llm none mcp` at the end.
# The project is mounted under its own path, because a workspace is identified by it; below its root, the repository
# would not be seen and the directory be taken for a workspace of its own.
# For a team: compose.yaml runs `serve`. The root file system may be read-only; /data, /traces and /tmp are written to,
# and /backups, where backup.dir names it.
# Whoever has a binary already gives its directory as the stage that builds one, and nothing is compiled:
#   docker build --build-context build=DIR -t reasoning-bank .        (DIR/src/target/release/reasoning-bank)

# Base images are pinned by the digest of their index, for every architecture. To move to a newer one, change the tag and
# the digest together: `docker buildx imagetools inspect NAME:TAG` shows it.
FROM rust:1.95.0-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends protobuf-compiler libprotobuf-dev \
    && rm -rf /var/lib/apt/lists/*
# The image's own toolchain, without the components that rust-toolchain.toml asks for development
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN cargo build --locked --release --bin reasoning-bank

FROM debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
# Calls of models go over TLS
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data reasoning-bank \
    && install -d -o reasoning-bank -m 0700 /data /traces /backups
COPY --from=build /src/target/release/reasoning-bank /usr/local/bin/
COPY LICENSE /usr/share/doc/reasoning-bank/
# Traces become files only where traces.files says so.
ENV REASONING_BANK_DATA=/data \
    REASONING_BANK__TRACES__DIR=/traces
VOLUME ["/data", "/traces"]
# A number, so that who runs the image can see that it is not root
USER 10001
STOPSIGNAL SIGTERM
# Asks the daemon at http.listen. An MCP server over stdio listens nowhere: its client sees whether it lives.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
    CMD ["sh", "-c", "grep -qz '^serve$' /proc/1/cmdline || exit 0; exec reasoning-bank health"]
ENTRYPOINT ["reasoning-bank"]
CMD ["mcp"]
