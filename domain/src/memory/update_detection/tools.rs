//! Tools and other values that exclude one another: one takes the place of another of its kind.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::lexicon;
use super::synonyms::by_line;

/// Names of tools. Those of one line take each other's place.
const TOOLS: &[&str] = &[
    "postgres postgresql mysql mariadb sqlite mongodb mongo cockroachdb dynamodb cassandra oracle couchdb neo4j scylladb \
     firestore spanner aurora duckdb clickhouse bigquery snowflake redshift planetscale timescaledb influxdb supabase mssql tidb",
    "redis memcached valkey dragonfly hazelcast keydb",
    "kafka rabbitmq nats sqs pulsar activemq kinesis zeromq celery sidekiq redpanda mosquitto",
    "jenkins circleci travis teamcity buildkite drone bamboo concourse tekton argo",
    "github gitlab bitbucket gitea forgejo codeberg",
    "aws gcp azure hetzner digitalocean ovh linode heroku vercel netlify render fly cloudflare scaleway",
    "rust go golang python java kotlin scala ruby elixir typescript javascript c++ c# swift php perl clojure haskell zig erlang dart asp.net .net",
    "react vue angular svelte solid preact ember htmx qwik lit",
    "next nuxt gatsby remix astro sveltekit",
    "django flask fastapi rails express spring laravel phoenix axum actix gin nestjs koa fastify nest",
    "npm yarn pnpm bun",
    "pip poetry uv pipenv conda pdm hatch",
    "webpack vite esbuild rollup parcel turbopack rspack",
    "jest vitest mocha pytest unittest junit nose jasmine ava testng",
    "cypress playwright selenium puppeteer webdriverio testcafe",
    "eslint biome tslint oxlint ruff flake8 pylint prettier black yapf autopep8 gofmt rustfmt",
    "mypy pyright pyre pytype",
    "terraform pulumi opentofu cloudformation ansible chef puppet saltstack cdk crossplane",
    "docker podman containerd buildah",
    "kubernetes nomad ecs swarm mesos openshift",
    "nginx caddy traefik apache haproxy envoy",
    "prometheus datadog newrelic grafana zabbix nagios honeycomb splunk dynatrace",
    "sentry rollbar bugsnag airbrake honeybadger",
    "elasticsearch opensearch solr meilisearch typesense algolia lucene quickwit",
    "slack teams discord mattermost zulip zoom jitsi",
    "jira linear asana trello shortcut clickup youtrack redmine monday",
    "notion confluence wiki gitbook docusaurus mkdocs sphinx readthedocs",
    "stripe adyen braintree paypal mollie paddle",
    "okta auth0 keycloak cognito clerk zitadel",
    "sendgrid mailgun postmark ses mailchimp resend",
    "json yaml toml xml protobuf avro msgpack csv parquet ini cbor",
    "rest graphql grpc soap trpc websocket websockets sse",
    "ubuntu debian alpine centos fedora rhel rocky nixos",
    "vault 1password bitwarden doppler sops lastpass",
    "vscode vim neovim emacs intellij pycharm goland zed webstorm",
    "openai anthropic gemini mistral ollama claude gpt llama",
    "tabs spaces tab space",
    "maven gradle bazel ant sbt make cmake meson ninja just",
    "jwt paseto cookies sessions saml oauth oidc",
    "bash zsh fish powershell",
    "airflow dagster prefect luigi cron temporal",
    "launchdarkly unleash flagsmith split growthbook",
    "figma sketch xd penpot",
    "helm kustomize jsonnet",
    "squash rebase rebas",
    "logback log4j zap zerolog logrus winston pino loguru structlog",
    "requests httpx aiohttp axios ky got reqwest",
    "sqlalchemy prisma drizzle typeorm sequelize knex diesel sqlx hibernate jooq gorm",
    "pagerduty opsgenie victorops",
    "s3 gcs minio r2 backblaze",
    "flyway liquibase alembic dbmate goose",
    "jpeg jpg png webp avif gif svg",
    "d3 echarts chart.js chartjs plotly highcharts recharts vega matplotlib seaborn bokeh",
    "moment moment.js date-fns dayjs luxon",
    "gzip brotli zstd lz4 snappy deflate bzip2 xz",
    "md5 sha1 sha256 sha512 blake3 bcrypt argon2 scrypt",
    "rsa ed25519 ecdsa",
    "utf-8 utf8 utf-16 latin1 latin-1 ascii",
    "mit gpl lgpl agpl bsd mpl isc",
    "scrum kanban",
    "gitflow trunk-based",
    "monorepo polyrepo",
];

/// Jobs that tools of several kinds do: the words that tell of the job, and the tools. Where both clauses tell of the
/// job, one tool takes the place of the other.
const JOBS: &[(&str, &str)] = &[
    (
        "queue queued enqueue enqueued job task consume publish published broker",
        "rabbitmq redis sqs kafka nats pulsar activemq kinesis celery sidekiq postgres postgresql mysql mariadb mongodb valkey \
         zeromq redpanda mosquitto",
    ),
    (
        "store cache session lock cart token counter persist counted",
        "redis memcached valkey dragonfly hazelcast keydb postgres postgresql mysql mariadb sqlite mongodb mongo dynamodb \
         cassandra firestore s3 gcs minio r2 kafka",
    ),
    (
        "search",
        "elasticsearch opensearch solr meilisearch typesense algolia lucene postgres postgresql sqlite mongodb redis",
    ),
    ("error exception crash", "sentry rollbar bugsnag airbrake honeybadger datadog newrelic"),
    (
        "log metric trace traced",
        "datadog newrelic grafana splunk honeycomb elasticsearch opensearch prometheus influxdb clickhouse sentry",
    ),
    (
        "ci build",
        "jenkins circleci travis teamcity buildkite drone bamboo concourse tekton argo github gitlab bitbucket",
    ),
    ("ticket issue bug task", "jira linear asana trello clickup youtrack redmine monday notion github gitlab gitea"),
    ("documentation wiki page", "notion confluence wiki gitbook docusaurus mkdocs github gitlab"),
    (
        "host hosting deploy",
        "aws gcp azure hetzner digitalocean ovh linode heroku vercel netlify render fly cloudflare scaleway \
      kubernetes nomad ecs swarm docker github gitlab",
    ),
    ("secret password", "vault 1password bitwarden doppler sops lastpass aws gcp azure github kubernetes"),
    ("login authentication", "okta auth0 keycloak cognito clerk zitadel supabase github gitlab"),
    ("test", "jest vitest mocha ava bun"),
    ("schedule", "cron airflow dagster prefect temporal celery sidekiq kubernetes jenkins github gitlab"),
];

/// Values that are no tools and exclude one another. Those of one line take each other's place.
const EXCLUSIVE: &[&str] = &[
    "single double",
    "password passkey",
    "master primary main trunk",
    "float integer int decimal double-precision",
    "camelcase snake_case kebab-case pascalcase camel snake kebab pascal",
    "hourly daily weekly fortnightly monthly quarterly yearly annually nightly",
    "ascending descending",
    "little-endian big-endian",
    "light dark",
    "left right",
    "strict lenient loose",
    "lazy eager",
    "optimistic pessimistic",
    "stateless stateful",
    "metric imperial celsius fahrenheit",
    "vegetarian vegan pescatarian",
    "married divorced engaged widowed",
    "red green blue yellow orange purple pink brown white grey gray",
];

/// Names of tools that are words as well: only a capital tells which is meant.
const WORDS_TOO: &str = "go rust dart express spring render fly split linear temporal notion teams zoom got chef drone \
    next nest remix argo black make ava swift solid ember rest just sketch ninja parcel bun ant fish monday concourse oracle spanner aurora \
    shortcut unleash clerk resend cookies sessions requests tabs spaces tab space squash rebase rebas puppet swarm helm bamboo julia cross \
    goose moment snappy deflate vega lit turbo envoy apache wiki elm arm split cron diesel ky teams nose";

static TOOL: LazyLock<HashMap<String, usize>> = LazyLock::new(|| by_line(TOOLS));
static JOB: LazyLock<Vec<(HashSet<String>, HashSet<&str>)>> = LazyLock::new(|| {
    let job = |(words, tools): &(&str, &'static str)| {
        (words.split_whitespace().map(lexicon::canonical).collect(), tools.split_whitespace().collect())
    };
    JOBS.iter().map(job).collect()
});
static EXCLUSIVE_VALUE: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    let of_terms = by_line(EXCLUSIVE).into_iter().map(|(word, line)| (lexicon::canonical(&word), line));
    of_terms.collect()
});

/// Returns the kind of tool that a name is one of.
pub(super) fn tool_kind(word: &str) -> Option<usize> {
    TOOL.get(word).copied()
}

/// Tells whether two tools do one job, of which `tells` knows a word.
pub(super) fn do_one_job(a: &str, b: &str, tells: impl Fn(&str) -> bool) -> bool {
    JOB.iter().any(|(words, tools)| tools.contains(a) && tools.contains(b) && words.iter().any(|word| tells(word)))
}

/// Tells whether a word may be a value that excludes others.
pub(super) fn is_exclusive(word: &str) -> bool {
    EXCLUSIVE_VALUE.contains_key(&lexicon::canonical(word))
}

/// Tells whether both are values, in the spelling that is compared, that exclude one another.
pub(super) fn exclude(a: &str, b: &str) -> bool {
    a != b && EXCLUSIVE_VALUE.get(a).is_some_and(|line| EXCLUSIVE_VALUE.get(b) == Some(line))
}

/// Tells whether a word is the name of a tool wherever it stands.
pub(super) fn is_tool(word: &str) -> bool {
    tool_kind(word).is_some() && !lexicon::in_list(WORDS_TOO, word)
}
