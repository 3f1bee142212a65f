"""A Claude that tries spellings: it asks the server for each as the CLI's hook does, and runs
those that are allowed; or, where it is told so, all of them."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

if "--version" in sys.argv:
    print("2.1.329 (Claude Code)")
    sys.exit()
prompt = sys.stdin.read()
with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "plan.json")) as f:
    plan = next(p for name, p in json.load(f).items() if name in prompt)
if not os.path.exists("prepared"):  # the first turn leaves what the second one may not reach
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
    open("prepared", "w").close()
    sys.exit()
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


# All at once: when the first is asked for, the turn is to end within seconds.
with ThreadPoolExecutor(8) as pool:
    verdicts = list(pool.map(lambda command: plan["all"] or allowed(command), plan["commands"]))
ran = [[command, run(command)] for command, may in zip(plan["commands"], verdicts) if may]
with open("ran.json", "w") as f:
    json.dump(ran, f)
open("done", "w").close()
time.sleep(600)
