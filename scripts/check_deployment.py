#!/usr/bin/env python3
"""Checks the files of a deployment against each other and against the binary: compose.yaml, compose.observability.yaml,
the Dockerfile, config/production.toml and what is in deploy/. Usage: scripts/check_deployment.py BINARY, with PyYAML.

Prints one line for each fault and exits with 1 where there is one. Then it breaks copies of the files, each in one way,
and fails where that is not found. systemd-analyze, nginx and caddy are asked where they are there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
FILES = ["compose.yaml", "compose.observability.yaml", "Dockerfile", "config/production.toml", "docs/DAEMON.md"]
# The values of variables that the files want from whoever starts them.
GIVEN = {"BANK_HOST": "bank.example.org", "GRAFANA_PASSWORD": "secret"}
# What the binary said about a file and an environment: most faults change neither.
SHOWN = {}
# Each fault is one change of one file, and a word of the problem that it has to be.
FAULTS = [
    ("compose.yaml", "REASONING_BANK__HTTP__LISTEN", "REASONING_BANK__HTTP__ADDRESS", "http.address"),
    ("compose.yaml", "REASONING_BANK_BOOTSTRAP_TOKEN_FILE", "REASONING_BANK_FIRST_TOKEN_FILE", "FIRST_TOKEN"),
    ("compose.yaml", "BANK_PORT:-8787}:8787", "BANK_PORT:-8787}:8788", "8788"),
    ("compose.yaml", "backups:/backups", "backups:/var/backups", "/var/backups"),
    ("compose.yaml", "traces:/traces", "trace:/traces", "trace"),
    ("compose.yaml", "./config/production.toml", "./config/team.toml", "config/team.toml"),
    ("compose.yaml", "target: /etc/reasoning-bank.toml", "target: /etc/bank.toml", "/etc/reasoning-bank.toml"),
    ("compose.yaml", "secrets: [bootstrap_token,", "secrets: [", "bootstrap_token"),
    ("compose.observability.yaml", "${BANK_HOST:?set", "${BANK_NAME:?set", "BANK_NAME"),
    ("compose.observability.yaml", ",bank\n", ",other\n", "bank:8787"),
    ("compose.observability.yaml", "./deploy/grafana/datasource.yaml", "./deploy/datasource.yaml", "deploy/datasource"),
    ("Dockerfile", "-m 0700 /data /traces /backups", "-m 0700 /data /traces", "/backups"),
    ("Dockerfile", "USER 10001", "USER 10002", "10002"),
    ("Dockerfile", "REASONING_BANK__TRACES__DIR", "REASONING_BANK__TRACES__PLACE", "traces.place"),
    ("config/production.toml", "solves_per_token", "solves_at_once", "http.solves_at_once"),
    ("config/production.toml", "127.0.0.1:8787", "127.0.0.1:8788", "8787"),
    ("config/production.toml", "deadline_s = 600", "deadline_s = 900", "agent.deadline_s"),
    ("config/production.toml", "reasoning-bank-backups", "bank-backups", "bank-backups"),
    ("deploy/prometheus.yml", "bank:8787", "bank:8788", "bank:8788"),
    ("deploy/Caddyfile", "reverse_proxy 127.0.0.1:8787", "reverse_proxy 127.0.0.1:8080", "8080"),
    ("deploy/nginx.conf", "http://127.0.0.1:8787;\n    }\n}", "http://127.0.0.1:80;\n    }\n}", ":80"),
    ("deploy/nginx.conf", "client_max_body_size 8m", "client_max_body_size 1m", "1m"),
    ("deploy/reasoning-bank.service", "REASONING_BANK_DATA=", "REASONING_BANK_DATEN=", "REASONING_BANK_DATEN"),
    ("deploy/reasoning-bank.service", "StateDirectory=reasoning-bank ", "StateDirectory=bank ", "StateDirectory"),
    ("deploy/reasoning-bank.service", "kill -HUP", "kill -USR1", "HUP"),
    ("deploy/reasoning-bank.service", "Type=notify", "Type=simple", "notify"),
]


class Deployment:
    """The files below a root, with the problems that were found."""

    def __init__(self, root: Path, binary: Path):
        self.root, self.binary, self.problems = root, binary, []
        self.page = self.text("docs/DAEMON.md")

    def text(self, name: str) -> str:
        return (self.root / name).read_text()

    def need(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)

    def check(self) -> list[str]:
        try:
            first, both = self.yaml("compose.yaml"), self.yaml("compose.observability.yaml")
        except (yaml.YAMLError, KeyError) as error:
            return [f"a compose file cannot be read: {error}"]
        image = self.image()
        operator = self.settings("config/production.toml", {})
        in_compose = self.container(first, {}, image)
        self.container(first, both, image)
        self.storage(first, image)
        for name, compose in [("compose.yaml", first), ("compose.observability.yaml", both)]:
            self.references(name, compose)
        if operator and in_compose:
            self.ports(first, both, operator, in_compose)
            self.proxies(operator)
            self.unit(operator)
        return list(dict.fromkeys(self.problems))

    def yaml(self, name: str) -> dict:
        def value(found: re.Match) -> str:
            variable, default = found[1], found[2]
            self.need(default is not None or variable in GIVEN, f"{name}: nobody is told to set {variable}")
            return GIVEN.get(variable, default or "missing")

        text = re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}", value, self.text(name))
        return yaml.safe_load(text)

    def settings(self, config: str, environment: dict) -> dict:
        """Returns what the binary makes of a file and an environment."""
        key = (self.text(config), *sorted(environment.items()))
        if key not in SHOWN:
            SHOWN[key] = self.shown(config, environment)
        shown = SHOWN[key]
        self.need(shown.returncode == 0, f"{config} and {sorted(environment)}: {shown.stderr.strip()}")
        settings = json.loads(shown.stdout)["settings"] if shown.returncode == 0 else []
        return {setting["key"]: setting["value"] for setting in settings}

    def shown(self, config: str, environment: dict) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as home:
            known = {"HOME": home, "PATH": os.environ["PATH"], "OPENROUTER_API_KEY": "sk-or-v1-0123456789abcdef"}
            if "OPENROUTER_API_KEY_FILE" in environment:
                known["OPENROUTER_API_KEY_FILE"] = f"{home}/key"
                Path(home, "key").write_text(known.pop("OPENROUTER_API_KEY"))
                environment = {name: value for name, value in environment.items() if name not in known}
            arguments = [self.binary, "--json", "--config", self.root / config, "config", "show"]
            return subprocess.run(arguments, cwd=home, env=environment | known, capture_output=True, text=True)

    def named(self, place: str, environment: dict) -> None:
        """The binary says which settings it does not know; all other variables have to be in the documentation."""
        pages = "".join(path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
        for name in environment:
            is_known = "__" in name or re.search(rf"\b{name}\b", pages)
            self.need(bool(is_known), f"{place}: no page speaks of {name}")

    def image(self) -> dict:
        lines = self.text("Dockerfile").replace("\\\n", " ")
        last = lines[lines.rindex("\nFROM ") :]
        environment = dict(re.findall(r"(REASONING_BANK_\w+)=(\S+)", last))
        self.named("Dockerfile", environment)
        user = re.search(r"^USER (\S+)", last, re.M)[1]
        self.need(f"--uid {user} " in last, f"Dockerfile: nobody makes the user {user}")
        for name in ["compose.yaml", "docs/DAEMON.md"]:
            self.need(f"user {user}" in self.text(name), f"{name} does not say that the user of the image is {user}")
        made = re.search(r"install -d -o reasoning-bank -m 0700 ((?:/\S+ ?)+)", last)[1].split()
        volumes = json.loads(re.search(r"^VOLUME (.*)$", last, re.M)[1])
        return {"environment": environment, "made": made, "volumes": volumes}

    def container(self, first: dict, other: dict, image: dict) -> dict:
        environment = image["environment"] | first["services"]["bank"]["environment"]
        environment |= other.get("services", {}).get("bank", {}).get("environment", {})
        environment = {name: str(value) for name, value in environment.items()}
        self.named("compose.yaml", environment)
        config = first["configs"]["bank"]["file"]
        if not (self.root / config).exists():
            self.need(False, f"compose.yaml: {config} is not there")
            return {}
        return self.settings(config, environment)

    def storage(self, compose: dict, image: dict) -> None:
        bank = compose["services"]["bank"]
        mounted = {place: name for name, place in (volume.split(":")[:2] for volume in bank["volumes"])}
        for place, name in mounted.items():
            self.need(place in image["made"], f"compose.yaml: {place} is not given to the user by the Dockerfile")
        for place in image["volumes"]:
            self.need(place in mounted, f"compose.yaml: {place}, a volume of the image, is not mounted")
        if bank["read_only"]:
            has_tmp = any(place.startswith("/tmp:") for place in bank["tmpfs"])
            self.need(has_tmp, "compose.yaml: /tmp cannot be written to")
        config = bank["command"][bank["command"].index("--config") + 1]
        targets = [config["target"] for config in bank["configs"]]
        self.need(config in targets, f"compose.yaml: the command names {config}, and nothing is put there")
        read = [value for value in bank["environment"].values() if str(value).startswith("/run/secrets/")]
        for path in read:
            self.need(Path(path).name in bank["secrets"], f"compose.yaml: {path} is no secret of the service")
        examples = re.findall(r'"(/[^"]+)"', self.text("config/production.toml"))
        places = list(mounted) + self.state()
        for path in examples:
            self.need(path in places, f"config/production.toml names {path}, which no deployment has")
        for path in ["/backups", *self.state()]:
            self.need(path in places and f"`{path}`" in self.page, f"docs/DAEMON.md does not name {path}")

    def references(self, name: str, compose: dict) -> None:
        """What a service uses is declared, and what is declared is used and there."""
        for kind in ["volumes", "configs", "secrets"]:
            declared, used = compose.get(kind, {}), set()
            for service in compose["services"].values():
                for entry in service.get(kind, []):
                    used.add(entry["source"] if isinstance(entry, dict) else entry.split(":")[0])
            self.need(set(declared) == used, f"{name}: {kind} are declared and used otherwise: {set(declared) ^ used}")
            for entry in declared.values():
                file = (entry or {}).get("file")
                is_there = file is None or kind == "secrets" or (self.root / file).exists()
                self.need(is_there, f"{name}: {file} is not there")

    def ports(self, first: dict, both: dict, operator: dict, in_compose: dict) -> None:
        port = in_compose["http.listen"].rpartition(":")[2]
        for published in first["services"]["bank"]["ports"]:
            address, outer, inner = published.split(":")
            self.need(inner == port, f"compose.yaml publishes {inner}, and the daemon listens at {port}")
            self.need(address == "127.0.0.1", f"compose.yaml publishes the daemon at {address}, without TLS")
            proxied = operator["http.listen"]
            is_same = f"{address}:{outer}" == proxied
            self.need(is_same, f"compose.yaml publishes {address}:{outer}, and proxies ask {proxied}")
        allowed = both["services"]["bank"]["environment"]["REASONING_BANK__HTTP__ALLOWED_HOSTS"].split(",")
        for scrape in yaml.safe_load(self.text("deploy/prometheus.yml"))["scrape_configs"]:
            for target in (target for static in scrape["static_configs"] for target in static["targets"]):
                host, _, asked = target.partition(":")
                is_there = host in first["services"] and host in allowed and asked == port
                self.need(is_there, f"deploy/prometheus.yml: {target} is no address that the daemon answers at")

    def proxies(self, operator: dict) -> None:
        self.need(operator["http.behind_proxy"] is True, "config/production.toml: http.behind_proxy is to be true")
        caddy = (r"reverse_proxy (\S+)", r"max_size (\S+)", r"(?:read|response_header)_timeout (\d+)s")
        nginx = (r"proxy_pass http://([^;]+);", r"client_max_body_size (\w+);", r"proxy_read_timeout (\d+)s")
        for name, (upstream, body, pause) in [("deploy/Caddyfile", caddy), ("deploy/nginx.conf", nginx)]:
            text = self.text(name)
            for address in re.findall(upstream, text):
                self.need(address == operator["http.listen"], f"{name}: {address} is not http.listen")
            sizes = [size.lower().removesuffix("ib") for size in re.findall(body, text)]
            self.need(sizes == ["8m", "256m"], f"{name}: messages have 8 MiB and imports 256, not {sizes}")
            for seconds in map(int, re.findall(pause, text)):
                self.need(seconds > operator["agent.deadline_s"], f"{name} waits less long than agent.deadline_s")

    def unit_values(self, key: str) -> list[str]:
        return re.findall(rf"^{key}=(.*)$", self.text("deploy/reasoning-bank.service"), re.M)

    def state(self) -> list[str]:
        return [f"/var/lib/{name}" for line in self.unit_values("StateDirectory") for name in line.split()]

    def unit(self, operator: dict) -> None:
        name = "deploy/reasoning-bank.service"
        environment = dict(line.split("=", 1) for line in self.unit_values("Environment"))
        self.named(name, environment)
        used = self.settings("config/production.toml", environment)
        data = used.get("data_dir")
        self.need(data in self.state(), f"{name}: {data} is not made by StateDirectory, which has {self.state()}")
        self.need(f"--data-dir {data} token create" in self.page, f"docs/DAEMON.md makes no token in {data}")
        self.need(self.unit_values("Type") == ["notify"], f"{name}: the daemon tells when it is ready: Type=notify")
        self.need(self.unit_values("ExecReload") == ["/bin/kill -HUP $MAINPID"], f"{name}: a reload is a HUP")
        config = self.unit_values("ExecStart")[0].split()[2]
        self.need(config in self.page, f"docs/DAEMON.md puts no file at {config}, which {name} reads")


def asked(program: str, *arguments: str | Path) -> list[str]:
    """Asks a program about a file, where the program is there."""
    if not shutil.which(program):
        print(f"deployment: {program} is not here, and was not asked")
        return []
    answer = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    said = (answer.stdout + answer.stderr).strip()
    print(f"deployment: {program} was asked")
    # systemd-analyze ends well for a line that it ignores, and speaks of other units of the machine too.
    is_ignored = program == "systemd-analyze" and "reasoning-bank" in said
    return [f"{program}: {said}"] if answer.returncode != 0 or is_ignored else []


def programs(binary: Path, place: Path) -> list[str]:
    unit = (ROOT / "deploy/reasoning-bank.service").read_text().replace("/usr/local/bin/reasoning-bank ", f"{binary} ")
    (place / "reasoning-bank.service").write_text(unit)
    problems = asked("systemd-analyze", "verify", place / "reasoning-bank.service")
    problems += asked("caddy", "validate", "--adapter", "caddyfile", "--config", ROOT / "deploy/Caddyfile")
    if shutil.which("nginx") and shutil.which("openssl"):
        key, chain = place / "privkey.pem", place / "fullchain.pem"
        new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=bank"]
        subprocess.run([*new, "-keyout", key, "-out", chain], check=True, capture_output=True)
        server = (ROOT / "deploy/nginx.conf").read_text().replace("/etc/ssl/bank", str(place))
        kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        places = "".join(f"{kind}_temp_path {place / kind};\n" for kind in kinds) + "access_log off;\n"
        (place / "nginx.conf").write_text(f"pid {place}/pid;\nevents {{}}\nhttp {{\n{places}{server}\n}}\n")
    return problems + asked("nginx", "-t", "-e", "stderr", "-c", place / "nginx.conf")


def copied(place: Path) -> Path:
    for name in FILES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    shutil.copytree(ROOT / "deploy", place / "deploy")
    return place


def not_found(binary: Path) -> list[str]:
    """A check that cannot fail checks nothing."""
    missed = []
    for name, old, new, word in FAULTS:
        with tempfile.TemporaryDirectory() as place:
            root = copied(Path(place))
            text = (root / name).read_text()
            (root / name).write_text(text.replace(old, new))
            found = Deployment(root, binary).check()
            if old not in text or not any(word in problem for problem in found):
                missed.append(f"{name}: {new!r} for {old!r} is not found to be wrong: {found}")
    return missed


def main() -> None:
    binary = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place:
        problems = Deployment(ROOT, binary).check() + programs(binary, Path(place)) + not_found(binary)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if not problems:
        print(f"deployment: the files agree, and each of {len(FAULTS)} faults is found")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
