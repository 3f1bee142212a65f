"""A Claude that tries spellings: it asks the server for each as the CLI's hook does, and runs
those that are allowed, or all if its plan says so. A turn that is ended continues in the next one."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

if "--version" in sys.argv:
    print("2.1.329 (Claude Code)")
    sys.exit()
print('{"type": "system", "subtype": "init"}', flush=True)
prompt = sys.stdin.read()
with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "plan.json")) as f:
    plans = json.load(f)
if not os.path.exists("name"):  # the first turn leaves what the second one may not reach
    kind = next(name for name in plans if name in prompt)
    with open("name", "w") as f:
        f.write(kind)
    plan = plans[kind]
    for name in ("sub", "keep", "asked", "made"):
        os.mkdir(name)
    for name in (".env", "sub/.env"):
        with open(name, "w") as f:
            f.write("secret-" + os.urandom(16).hex() + "\n")
    for name in plan["keep"] or []:
        open("keep/" + name, "w").close()
    for name, target in {"link": ".env", "sub/link": "../.env", "dir": "sub"}.items():
        os.symlink(target, name)
    os.link(".env", "hard")
    subprocess.run(["git", "init", "-q"])
    open("plain", "w").close()
    sys.exit()
with open("name") as f:
    plan = plans[f.read()]
with open(sys.argv[sys.argv.index("--settings") + 1]) as f:
    hook = json.load(f)["hooks"]["PreToolUse"][0]["hooks"][0]
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def allowed(command):
    body = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": os.getcwd(), "tool_input": {"command": command}}
    headers = {"Content-Type": "application/json", **hook["headers"]}
    with direct.open(urllib.request.Request(hook["url"], json.dumps(body).encode(), headers)) as answer:
        return json.load(answer).get("hookSpecificOutput", {}).get("permissionDecision") == "allow"


def run(command):
    shell = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return shell.communicate(timeout=3)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, 9)
        return "timed out"


verdicts, outputs = {}, {}
if os.path.exists("tried.json"):
    with open("tried.json") as f:
        verdicts, outputs = json.load(f)


def stop(*_):
    """Saves what was tried: some seconds after a person is asked about a call, the server ends the turn."""
    with open("tried.json", "w") as f:
        json.dump([dict(verdicts), dict(outputs)], f)
    os._exit(0)


def judge(command):
    if command not in verdicts:
        verdicts[command] = plan["all"] or allowed(command)


signal.signal(signal.SIGTERM, stop)
with ThreadPoolExecutor(8) as pool:
    list(pool.map(judge, plan["commands"]))
for command in plan["commands"]:
    if verdicts[command] and command not in outputs:
        outputs[command] = run(command)
with open("ran.json", "w") as f:
    json.dump(list(outputs.items()), f)
open("done", "w").close()
time.sleep(600)
