let node_fs = require("node:fs");
let node_os = require("node:os");
let node_path = require("node:path");
let node_crypto = require("node:crypto");
let node_child_process = require("node:child_process");
let node_readline = require("node:readline");
// packages/action/src/errors.ts
var StepError = class extends Error {
	name = "StepError";
};
// packages/action/src/arguments.ts
function parseArguments(text) {
	return text.startsWith("[") ? parseJson(text) : splitWords(text);
}
function parseJson(text) {
	try {
		const value = JSON.parse(text);
		if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
	} catch {}
	throw new StepError("agent-args begins with \"[\" and is not a JSON array of strings.");
}
/** One word, or the quote that begins it and is not closed. */
const part = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(['"\\])/gsy;
function splitWords(text) {
	const words = [];
	let at = 0;
	while (at < text.length) {
		const space = /^\s+/.exec(text.slice(at));
		if (space) at += space[0].length;
		if (at >= text.length) break;
		const { word, end } = readWord(text, at);
		words.push(word);
		at = end;
	}
	return words;
}
function readWord(text, start) {
	let word = "";
	let end = start;
	part.lastIndex = start;
	for (let found = part.exec(text); found; found = part.exec(text)) {
		const [, single, double, escaped, plain, unclosed] = found;
		if (unclosed) throw new StepError(`agent-args has ${unclosed} without its end: ${text}`);
		word += single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "";
		end = part.lastIndex;
	}
	return {
		word,
		end
	};
}
// packages/action/src/inputs.ts
const sandboxes = [
	"read-only",
	"workspace-write",
	"danger-full-access"
];
const strategies = [
	"drop-sudo",
	"unprivileged-user",
	"unsafe"
];
const variableOf = (name) => `INPUT_${name.toUpperCase().replaceAll("-", "_")}`;
/** `INPUT_PROMPT_FILE` for `prompt-file`; later steps get all of them as one value. */
function inputOf(variables, name) {
	const collected = JSON.parse(variables.AGENTCLI_INPUTS || "{}");
	return (variables[variableOf(name)] ?? collected[name] ?? "").trim();
}
/** Every input but the key, as they were given. */
function collectInputs(variables) {
	const given = Object.keys(variables).filter((name) => name.startsWith("INPUT_") && name !== variableOf("agent-api-key")).map((name) => [name.slice(6).toLowerCase().replaceAll("_", "-"), variables[name]]);
	return JSON.stringify(Object.fromEntries(given));
}
function readInputs(variables) {
	const input = (name) => inputOf(variables, name);
	const workspace = variables.GITHUB_WORKSPACE || process.cwd();
	const workingDirectory = (0, node_path.resolve)(workspace, input("working-directory"));
	if (!(0, node_fs.existsSync)(workingDirectory)) throw new StepError(`working-directory ${workingDirectory} does not exist. Check out the repository first.`);
	const strategy = oneOf("safety-strategy", input("safety-strategy") || "drop-sudo", strategies);
	checkStrategy(strategy, input("agent-user"));
	return {
		prompt: readPrompt(input("prompt"), input("prompt-file"), workspace),
		args: parseArguments(input("agent-args")),
		model: input("model"),
		effort: input("effort"),
		sandbox: oneOf("sandbox", input("sandbox") || "workspace-write", sandboxes),
		outputFile: input("output-file") && (0, node_path.resolve)(workingDirectory, input("output-file")),
		schema: readSchema(input("output-schema"), input("output-schema-file"), workspace),
		agentHome: input("agent-home").replace(/^~(?=\/|$)/, (0, node_os.homedir)()),
		workingDirectory,
		strategy,
		agentUser: input("agent-user")
	};
}
function checkStrategy(strategy, agentUser) {
	if (process.platform === "win32" && strategy !== "unsafe") throw new StepError(`safety-strategy ${strategy} does not exist on Windows. Set it to unsafe, or use a Linux runner.`);
	if (strategy === "unprivileged-user" && !/^[a-z_][\w-]*$/i.test(agentUser)) throw new StepError("safety-strategy unprivileged-user needs agent-user: the name of a user of the runner.");
	if (strategy !== "unprivileged-user" && agentUser !== "") throw new StepError("agent-user is used with safety-strategy unprivileged-user only. Set that, or leave agent-user out.");
}
function readPrompt(text, file, workspace) {
	if (text === "" === (file === "")) throw new StepError("Set exactly one of prompt and prompt-file.");
	const prompt = text || readInside(file, workspace, "prompt-file").trim();
	if (prompt === "") throw new StepError(`prompt-file ${file} is empty.`);
	return prompt;
}
function readSchema(text, file, workspace) {
	if (text !== "" && file !== "") throw new StepError("Set output-schema or output-schema-file, not both.");
	if (text !== "") return {
		kind: "text",
		text
	};
	if (file === "") return { kind: "none" };
	readInside(file, workspace, "output-schema-file");
	return {
		kind: "file",
		path: (0, node_path.resolve)(workspace, file)
	};
}
/** A link of the repository must not lead to a file of the runner. */
function readInside(file, workspace, input) {
	try {
		const path = (0, node_fs.realpathSync)((0, node_path.resolve)(workspace, file));
		if ((0, node_path.relative)((0, node_fs.realpathSync)(workspace), path).startsWith("..")) throw new Error("it is outside");
		return (0, node_fs.readFileSync)(path, "utf8");
	} catch (error) {
		throw new StepError(`${input} ${file} is not a readable file of the repository: ${error.message}.`);
	}
}
function oneOf(name, value, choices) {
	const found = choices.find((choice) => choice === value);
	if (found === void 0) throw new StepError(`${name} is "${value}": expected ${choices.join(", ")}.`);
	return found;
}
// packages/action/src/runner-files.ts
/** With a delimiter that no value can guess. */
function setOutput({ GITHUB_OUTPUT }, name, value) {
	if (!GITHUB_OUTPUT) return;
	const delimiter = `ghadelimiter_${(0, node_crypto.randomUUID)()}`;
	(0, node_fs.appendFileSync)(GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}
function addSummary({ GITHUB_STEP_SUMMARY }, markdown) {
	if (GITHUB_STEP_SUMMARY) (0, node_fs.appendFileSync)(GITHUB_STEP_SUMMARY, `${markdown}\n`);
}
/** Lines of the log: text from outside must not be a command of the runner, which also looks for the older form within a line. */
const log = (text) => console.log(text.replaceAll("##[", "#​#[").replace(/^(\s*)::/gm, "$1​::"));
const escaped = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const reportError = (message) => console.log(`::error title=agentcli::${escaped(message)}`);
const reportWarning = (message) => console.log(`::warning title=agentcli::${escaped(message)}`);
// packages/action/src/actor.ts
/** A workflow that is run again has two actors, and both must be allowed. */
async function checkActor(variables) {
	const { GITHUB_ACTOR = "", GITHUB_ACTOR_ID, GITHUB_TRIGGERING_ACTOR = "" } = variables;
	if (GITHUB_ACTOR === "") throw new StepError("GITHUB_ACTOR is not set: this step runs in a workflow only.");
	await checkAccount({
		login: GITHUB_ACTOR,
		id: GITHUB_ACTOR_ID
	}, variables);
	if (GITHUB_TRIGGERING_ACTOR !== "" && GITHUB_TRIGGERING_ACTOR.toLowerCase() !== GITHUB_ACTOR.toLowerCase()) await checkAccount({
		login: GITHUB_TRIGGERING_ACTOR,
		id: void 0
	}, variables);
	return 0;
}
async function checkAccount(account, variables) {
	const { login } = account;
	const reason = await listedUser(account, variables) ?? await listedBot(account, variables) ?? await collaborator(account, variables);
	if (reason === void 0) throw new StepError(`${login} may not start this workflow: not a collaborator who can write, and not in allow-users or allow-bots. Add the account there, or let a collaborator run it.`);
	log(`${login} may start this workflow: ${reason}.`);
}
/** Names, or ids, which outlive a change of name. */
const entries = (variables, input) => inputOf(variables, input).split(/[\s,]+/).filter((entry) => entry !== "");
const isListed = ({ login, id }, list) => list.some((entry) => /^\d+$/.test(entry) ? entry === id : entry.toLowerCase() === login.toLowerCase());
async function listedUser(account, variables) {
	const list = entries(variables, "allow-users");
	const isOpen = list.includes("*");
	if (!isOpen && !isListed(account, list)) return void 0;
	if (await kindOf(account, variables) !== "User") return void 0;
	return isOpen ? "allow-users admits every user" : "named in allow-users";
}
const ownBot = "github-actions[bot]";
/** `true` admits the bot of GitHub Actions alone. Others are named one by one: any user can install an app. */
async function listedBot(account, variables) {
	const list = entries(variables, "allow-bots").flatMap((entry) => entry === "true" ? [ownBot] : entry === "false" ? [] : [entry]);
	if (list.includes("*")) throw new StepError("allow-bots does not take *: any user can install an app. Name each bot.");
	if (!isListed(account, list)) return void 0;
	return await kindOf(account, variables) === "Bot" ? "named in allow-bots" : void 0;
}
async function collaborator(account, variables) {
	const { GITHUB_REPOSITORY = "" } = variables;
	const found = await ask(`/repos/${GITHUB_REPOSITORY}/collaborators/${encodeURIComponent(account.login)}/permission`, variables);
	const permission = String(found?.permission ?? "none");
	return [
		"admin",
		"maintain",
		"write"
	].includes(permission) ? `permission ${permission}` : void 0;
}
/** What GitHub says the account is; its name proves nothing. The id must be the one the runner was given. */
async function kindOf({ login, id }, variables) {
	const found = await ask(`/users/${encodeURIComponent(login)}`, variables) ?? senderOf(login, variables);
	if (!found || id && String(found.id) !== id) return void 0;
	return String(found.type);
}
/** Some apps act under a name that does not belong to an account; the event then describes the sender. */
function senderOf(login, { GITHUB_EVENT_PATH }) {
	try {
		const { sender } = JSON.parse((0, node_fs.readFileSync)(GITHUB_EVENT_PATH ?? "", "utf8"));
		return sender?.login === login ? sender : void 0;
	} catch {
		return;
	}
}
/** Undefined for "not found"; any other failure stops the workflow. */
async function ask(path, variables) {
	const { GITHUB_API_URL = "https://api.github.com", GITHUB_TOKEN = "" } = variables;
	const headers = {
		accept: "application/vnd.github+json",
		"x-github-api-version": "2022-11-28",
		"user-agent": "agentcli-action",
		...GITHUB_TOKEN && { authorization: `Bearer ${GITHUB_TOKEN}` }
	};
	const response = await fetch(`${GITHUB_API_URL}${path}`, {
		headers,
		redirect: "error"
	}).catch((error) => {
		throw new StepError(`GitHub could not be asked about the actor: ${error.message}. Run the workflow again.`);
	});
	if (response.status === 404) return void 0;
	if (!response.ok) throw new StepError(`GitHub answered ${response.status} when asked about the actor (${path}). Check the permissions of the workflow's token, then run it again.`);
	return await response.json();
}
// packages/action/src/programs.ts
const folders = [
	"/usr/bin",
	"/bin",
	"/usr/sbin",
	"/sbin",
	"/usr/local/bin",
	"/opt/homebrew/bin"
];
function findProgram(name) {
	return folders.map((folder) => (0, node_path.join)(folder, name)).find((path) => {
		try {
			(0, node_fs.accessSync)(path, node_fs.constants.X_OK);
			return true;
		} catch {
			return false;
		}
	});
}
/** Node would run its standard input for an empty name. */
function installedCli({ AGENTCLI_PROGRAM }) {
	if (AGENTCLI_PROGRAM) return AGENTCLI_PROGRAM;
	throw new StepError("AGENTCLI_PROGRAM is empty: the step that installs agentcli must run before this one.");
}
function execute([program = "", ...args], options = {}) {
	const { status, stdout, stderr, error } = (0, node_child_process.spawnSync)(program, args, {
		...options,
		encoding: "utf8"
	});
	return {
		ok: status === 0,
		stdout: String(stdout ?? ""),
		stderr: error?.message ?? String(stderr ?? "")
	};
}
/** The command under sudo, without a password. */
const asRoot = (...command) => underSudo([], command);
/** Flags choose the user and what of the environment is kept. */
function underSudo(flags, command) {
	const sudo = findProgram("sudo");
	if (!sudo) throw new StepError("sudo is not installed on this runner. Set safety-strategy to unsafe, or install it.");
	return [
		sudo,
		"-n",
		...flags,
		"--",
		...command
	];
}
// packages/action/src/install.ts
function installCli(variables) {
	const version = inputOf(variables, "agent-version");
	if (!/^[\w.:/+~-]+$/.test(version)) throw new StepError(`agent-version "${version}" is not a version of agentcli.`);
	const folder = (0, node_fs.mkdtempSync)((0, node_path.join)(variables.RUNNER_TEMP || (0, node_os.tmpdir)(), "agentcli-"));
	execute([
		findProgram("chmod") ?? "chmod",
		"755",
		folder
	]);
	const { ok, stderr } = execute([
		process.execPath,
		findNpm(variables),
		"install",
		"--prefix",
		folder,
		"--no-audit",
		"--no-fund",
		`agentcli@${version}`
	], {
		env: variables,
		cwd: folder
	});
	if (!ok) throw new StepError(`agentcli ${version} could not be installed: ${stderr.trim().slice(-2e3)}`);
	log(`Installed agentcli ${version} in ${folder}.`);
	setOutput(variables, "program", (0, node_path.join)(folder, "node_modules/agentcli/bin/agentcli.cjs"));
	if (process.platform === "linux" && readInputs(variables).sandbox !== "danger-full-access") provideSandbox();
	return 0;
}
/** npm's own file, to be run by this very Node: on PATH there may be another, or none under sudo. */
function findNpm({ PATH = "", GITHUB_WORKSPACE = "" }) {
	const beside = (0, node_path.join)((0, node_path.dirname)(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
	const onPath = PATH.split(node_path.delimiter).filter((folder) => (0, node_path.isAbsolute)(folder) && !isBelow(folder, GITHUB_WORKSPACE)).map((folder) => (0, node_path.join)(folder, "../lib/node_modules/npm/bin/npm-cli.js"));
	const onWindows = (0, node_path.join)((0, node_path.dirname)(process.execPath), "node_modules/npm/bin/npm-cli.js");
	const onDebian = "/usr/share/nodejs/npm/bin/npm-cli.js";
	const found = [
		beside,
		onWindows,
		...onPath,
		onDebian
	].find(isReadable);
	if (!found) throw new StepError("npm was not found beside Node. Add a step with actions/setup-node before this one.");
	return found;
}
/** An agent or a pull request may have written what is in the repository. */
function isBelow(folder, workspace) {
	if (workspace === "" || !(0, node_fs.existsSync)(folder)) return false;
	const path = (0, node_path.relative)((0, node_fs.realpathSync)(workspace), (0, node_fs.realpathSync)(folder));
	return !(0, node_path.isAbsolute)(path) && path.split(node_path.sep)[0] !== "..";
}
function isReadable(path) {
	try {
		(0, node_fs.accessSync)(path, node_fs.constants.R_OK);
		return true;
	} catch {
		return false;
	}
}
/** Ubuntu's runners lack bubblewrap and forbid what it needs. Without it a run fails with a message of its own. */
function provideSandbox() {
	if (findProgram("bwrap") === void 0) tryAsRoot("bubblewrap", findProgram("apt-get"), "install", "-y", "--no-install-recommends", "bubblewrap");
	for (const [file, blocking, value] of settings) if (readText(file) === blocking) tryAsRoot(file, findProgram("sh"), "-c", `echo ${value} > ${file}`);
}
const settings = [[
	"/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	"1",
	"0"
], [
	"/proc/sys/kernel/unprivileged_userns_clone",
	"0",
	"1"
]];
function tryAsRoot(what, program, ...args) {
	if (!program || !findProgram("sudo")) return void reportWarning(`${what} is missing, and the action cannot provide it.`);
	const { ok, stderr } = execute(asRoot(program, ...args));
	if (!ok) reportWarning(`${what} could not be set up for the sandbox: ${stderr.trim().slice(-500)}`);
}
function readText(file) {
	try {
		return (0, node_fs.readFileSync)(file, "utf8").trim();
	} catch {
		return;
	}
}
// packages/action/src/privileges.ts
function reducePrivileges(variables) {
	const { strategy, agentUser } = readInputs(variables);
	if (strategy === "unsafe") reportWarning("safety-strategy is unsafe: commands of the agent may become root and read the key.");
	if (strategy === "drop-sudo") dropSudo();
	if (strategy === "unprivileged-user") checkUser(agentUser);
	return 0;
}
function dropSudo() {
	const { username, uid } = (0, node_os.userInfo)();
	if (uid === 0) throw new StepError("The job runs as root, which cannot be dropped. Set safety-strategy to unprivileged-user with agent-user, or to unsafe.");
	if (!findProgram("sudo") || !mayBecomeRoot()) return void log(`${username} cannot use sudo: nothing to drop.`);
	const { ok, stdout, stderr } = execute(asRoot(process.execPath, process.argv[1] ?? "", "drop-root-access", username));
	process.stdout.write(stdout);
	if (!ok) throw new StepError(`sudo could not be taken away from ${username}: ${stderr.trim() || stdout.trim()}`);
	if (mayBecomeRoot()) throw new StepError(`${username} can still use sudo. Another rule of the system grants it; use unprivileged-user.`);
	log(`${username} cannot use sudo any more, until the end of the job.`);
}
function mayBecomeRoot() {
	execute([findProgram("sudo") ?? "", "-K"]);
	return execute(asRoot(findProgram("true") ?? "")).ok;
}
function checkUser(name) {
	const id = findProgram("id") ?? "";
	if (!execute([
		id,
		"-u",
		name
	]).ok) throw new StepError(`agent-user ${name} does not exist on this runner. Create it in an earlier step.`);
	if (execute([
		id,
		"-u",
		name
	]).stdout.trim() === "0") throw new StepError("agent-user is root. Set it to a user without privileges.");
	if (execute(underSudo(["-u", name], asRoot(findProgram("true") ?? ""))).ok) throw new StepError(`agent-user ${name} may use sudo itself. Set it to a user without privileges.`);
}
/** As root, in a process of its own. */
function dropRootAccess(user) {
	denyInSudoers(user);
	for (const group of rootGroups) leaveGroup(user, group);
	for (const socket of rootSockets) closeSocket(socket);
	(0, node_fs.rmSync)(`/run/sudo/ts/${user}`, {
		force: true,
		recursive: true
	});
	restrictDebugging();
	return 0;
}
/** The last matching rule of sudoers decides, so this one does: over groups, aliases and included files. */
function denyInSudoers(user) {
	const file = "/etc/sudoers";
	const rule = `${user} ALL=(ALL:ALL) !ALL`;
	replaceFile(file, `${(0, node_fs.readFileSync)(file, "utf8").replace(/\n*$/, "\n")}# Added by the workflow action of agentcli, until the end of this machine.\n${rule}\n`, (draft) => {
		const visudo = findProgram("visudo");
		const { ok, stderr, stdout } = visudo ? execute([
			visudo,
			"-c",
			"-q",
			"-f",
			draft
		]) : {
			ok: true,
			stderr: "",
			stdout: ""
		};
		if (!ok) throw new StepError(`sudoers would be invalid: ${stderr}${stdout}`);
	});
}
/** Members of these are root by other means. */
const rootGroups = [
	"sudo",
	"wheel",
	"admin",
	"docker",
	"lxd",
	"incus",
	"incus-admin",
	"disk",
	"libvirt",
	"kvm"
];
function leaveGroup(user, group) {
	const members = 3;
	for (const file of ["/etc/group", "/etc/gshadow"].filter((path) => (0, node_fs.existsSync)(path))) {
		const text = (0, node_fs.readFileSync)(file, "utf8");
		const changed = text.split("\n").map((line) => {
			const fields = line.split(":");
			if (fields[0] !== group || fields[members] === void 0) return line;
			fields[members] = fields[members].split(",").filter((member) => member !== user).join(",");
			return fields.join(":");
		});
		if (changed.join("\n") !== text) replaceFile(file, changed.join("\n"));
	}
}
/** Processes that run keep their groups, so leaving one does not close these. */
const rootSockets = [
	"/run/docker.sock",
	"/var/run/docker.sock",
	"/run/containerd/containerd.sock",
	"/run/podman/podman.sock",
	"/run/incus/unix.socket",
	"/var/lib/lxd/unix.socket",
	"/var/snap/lxd/common/lxd/unix.socket"
];
function closeSocket(path) {
	if (!(0, node_fs.existsSync)(path) || (0, node_fs.lstatSync)(path).isSymbolicLink() || !(0, node_fs.statSync)(path).isSocket()) return;
	(0, node_fs.chownSync)(path, 0, 0);
	(0, node_fs.chmodSync)(path, 384);
}
/** The runner's worker holds secrets too, in a process of the same user. */
function restrictDebugging() {
	const file = "/proc/sys/kernel/yama/ptrace_scope";
	try {
		if ((0, node_fs.readFileSync)(file, "utf8").trim() === "0") (0, node_fs.writeFileSync)(file, "1");
	} catch {
		reportWarning(`${file} cannot be set: processes of this user can debug each other. Prefer unprivileged-user.`);
	}
}
/** With the same owner and mode; never half written. */
function replaceFile(file, text, check = () => {}) {
	const { uid, gid, mode } = (0, node_fs.statSync)(file);
	const draft = `${file}.agentcli`;
	(0, node_fs.writeFileSync)(draft, text, { mode: 384 });
	try {
		(0, node_fs.chownSync)(draft, uid, gid);
		(0, node_fs.chmodSync)(draft, mode & 4095);
		check(draft);
		(0, node_fs.renameSync)(draft, file);
	} finally {
		(0, node_fs.rmSync)(draft, { force: true });
	}
}
// packages/action/src/proxy.ts
/** In a fresh folder: files of an earlier proxy are never taken for this one's. */
async function startProxy(variables) {
	const key = inputOf(variables, "agent-api-key");
	if (key === "") throw new StepError("agent-api-key is empty. Pass a secret; workflows of forks do not get any.");
	const program = installedCli(variables);
	const folder = (0, node_fs.mkdtempSync)((0, node_path.join)(variables.RUNNER_TEMP || (0, node_os.tmpdir)(), "agentcli-proxy-"));
	const upstream = inputOf(variables, "responses-api-endpoint");
	const flags = [
		...[
			"--token-file",
			(0, node_path.join)(folder, "token"),
			"--server-info",
			(0, node_path.join)(folder, "server.json"),
			"--http-shutdown"
		],
		...process.platform === "win32" ? [] : ["--end-with", jobProcess(variables)],
		...upstream ? ["--upstream-url", upstream] : []
	];
	const { PATH, HOME, LANG, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = variables;
	const child = (0, node_child_process.spawn)(process.execPath, [
		program,
		"responses-proxy",
		...flags
	], {
		env: {
			PATH,
			HOME,
			LANG,
			SSL_CERT_FILE,
			NODE_EXTRA_CA_CERTS
		},
		cwd: folder,
		detached: true,
		stdio: [
			"pipe",
			"pipe",
			"pipe"
		]
	});
	child.stdin.on("error", () => {});
	child.stdin.end(key);
	const { port, protection } = JSON.parse(await firstLine(child));
	setOutput(variables, "folder", folder);
	log(`The proxy listens on 127.0.0.1:${port}.`);
	if (protection === "none") reportWarning("On this system the agent's commands may be able to read the key from the proxy.");
	return 0;
}
/** The runner's worker, which lives as long as the job: the parent of the shell that runs this step. */
function jobProcess({ AGENTCLI_STEP_PARENT = "" }) {
	if (!/^[1-9]\d*$/.test(AGENTCLI_STEP_PARENT)) throw new StepError("The process of the job is not known: run this step through action.yml.");
	return AGENTCLI_STEP_PARENT;
}
function firstLine(child) {
	let errors = "";
	child.stderr?.on("data", (chunk) => {
		errors += chunk;
	});
	return new Promise((resolve, reject) => {
		child.stdout?.once("data", (chunk) => {
			resolve(String(chunk));
			child.stdout?.destroy();
			child.stderr?.destroy();
			child.unref();
		});
		child.once("error", reject);
		child.once("close", (code) => reject(new StepError(`The proxy did not start (exit ${code}): ${errors.trim()}`)));
	});
}
function readProxy({ AGENTCLI_PROXY_FOLDER = "" }) {
	try {
		const { url } = JSON.parse((0, node_fs.readFileSync)((0, node_path.join)(AGENTCLI_PROXY_FOLDER, "server.json"), "utf8"));
		return {
			url,
			token: (0, node_fs.readFileSync)((0, node_path.join)(AGENTCLI_PROXY_FOLDER, "token"), "utf8").trim()
		};
	} catch (error) {
		throw new StepError(`The proxy is not running any more: ${error.message}.`);
	}
}
/** Also after a failure, and where no proxy was started. */
async function stopProxy(variables) {
	const { AGENTCLI_PROXY_FOLDER: folder } = variables;
	if (!folder) return 0;
	try {
		const { url, token } = readProxy(variables);
		const headers = { authorization: `Bearer ${token}` };
		await fetch(new URL("/shutdown", url), {
			method: "POST",
			headers
		});
		log("The proxy has stopped, and its key is gone.");
	} catch {
		log("The proxy had stopped already.");
	}
	(0, node_fs.rmSync)(folder, {
		recursive: true,
		force: true
	});
	return 0;
}
// packages/action/src/events.ts
const emptyResult = () => ({
	threadId: "",
	finalMessage: "",
	usage: {},
	costUsd: null,
	failure: "",
	commands: 0,
	changedFiles: /* @__PURE__ */ new Set(),
	exitCode: 0
});
/** Adds the event to the result; returns what the log of the workflow shows of it. */
function readEvent(event, result) {
	switch (event.type) {
		case "thread.started":
			result.threadId = event.thread_id ?? "";
			return `thread ${result.threadId}`;
		case "turn.completed":
			result.usage = event.usage ?? {};
			result.costUsd = event.cost_usd ?? null;
			return "";
		case "turn.failed":
		case "error":
			result.failure = event.error?.message ?? event.message ?? "";
			return `error: ${result.failure}`;
		case "item.completed": return readItem(event.item ?? {}, result);
		default: return event.type === "text" ? event.text ?? "" : "";
	}
}
function readItem(item, result) {
	switch (item.type) {
		case "agent_message":
			result.finalMessage = item.text ?? "";
			return result.finalMessage;
		case "command_execution":
			result.commands += 1;
			return `$ ${item.command} (${item.status}${item.exit_code ? `, exit ${item.exit_code}` : ""})`;
		case "file_change":
			for (const { path = "" } of item.changes ?? []) result.changedFiles.add(path);
			return (item.changes ?? []).map(({ kind, path }) => `${kind} ${path}`).join("\n");
		case "error": return `warning: ${item.message}`;
		default: return "";
	}
}
// packages/action/src/output-file.ts
/** `path` is absolute. */
function writeMessage(path, message, workingDirectory) {
	try {
		if ((0, node_fs.realpathSync)((0, node_path.dirname)(path)) !== expectedParent((0, node_path.dirname)(path), workingDirectory)) throw new Error("a directory above it is a link");
		const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = node_fs.constants;
		const file = (0, node_fs.openSync)(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 438);
		try {
			(0, node_fs.writeFileSync)(file, message);
		} finally {
			(0, node_fs.closeSync)(file);
		}
	} catch (error) {
		throw new StepError(`output-file ${path} cannot be written: ${error.message}. If it is a link, the agent may have made it.`);
	}
}
/** Links above the working directory are the runner's own, and so is every path outside of it. */
function expectedParent(parent, workingDirectory) {
	const below = (0, node_path.relative)(workingDirectory, parent);
	return below === ".." || below.startsWith("../") ? (0, node_fs.realpathSync)(parent) : (0, node_path.join)((0, node_fs.realpathSync)(workingDirectory), below);
}
// packages/action/src/summary.ts
/** GitHub shows up to one MiB of all steps together. */
const maxLength = 6e4;
function summaryOf({ exitCode, finalMessage, failure, usage, costUsd, threadId, commands, changedFiles }) {
	return `${[
		"| agentcli | |",
		"|---|---|",
		...[
			["result", exitCode === 0 ? "completed" : `failed with exit code ${exitCode}`],
			["cost", costUsd === null ? "unknown" : `${costUsd} USD`],
			["tokens", `${usage.input_tokens ?? 0} in (${usage.cached_input_tokens ?? 0} cached), ${usage.output_tokens ?? 0} out`],
			["commands, changed files", `${commands}, ${changedFiles.size}`],
			["thread", threadId || "none"]
		].map(([name, value]) => `| ${name} | ${value} |`)
	].join("\n")}\n\n${exitCode === 0 ? "" : `${quote(failure)}\n\n`}${showMessage(finalMessage)}\n`;
}
/** JSON in a block of its own; other messages are Markdown already. */
function showMessage(message) {
	const text = message.length > maxLength ? `${message.slice(0, maxLength)}\n\n(cut off; the whole is in the output final-message)` : message;
	return /^\s*[[{]/.test(text) ? `\`\`\`json\n${text}\n\`\`\`` : quote(text);
}
/** Quoted, it cannot be taken for words of the workflow, nor close a block around it. */
const quote = (text) => text.split("\n").map((line) => `> ${line}`).join("\n");
// packages/action/src/run.ts
async function runAgent(variables) {
	const inputs = readInputs(variables);
	const proxy = readProxy(variables);
	const folder = (0, node_fs.mkdtempSync)((0, node_path.join)(variables.RUNNER_TEMP || (0, node_os.tmpdir)(), "agentcli-run-"));
	(0, node_fs.chmodSync)(folder, 493);
	try {
		const program = [process.execPath, installedCli(variables)];
		const args = execArguments(inputs, proxy, folder);
		const result = await execAgent([...program, ...args], inputs, execEnvironment(inputs, proxy, variables));
		publish(result, inputs, variables);
		return result.exitCode;
	} finally {
		(0, node_fs.rmSync)(folder, {
			recursive: true,
			force: true
		});
	}
}
/** The variable by which exec gets the token of the proxy; commands of the agent do not get it. */
const tokenVariable = "AGENTCLI_PROXY_TOKEN";
function execArguments(inputs, { url }, folder) {
	const provider = `{ name = "workflow action", base_url = ${JSON.stringify(url)}, env_key = "${tokenVariable}", wire_api = "responses" }`;
	const schema = schemaFile(inputs, folder);
	return [
		...[
			"exec",
			"--json",
			"--skip-git-repo-check",
			"--sanitize",
			"--cd",
			inputs.workingDirectory
		],
		...[
			"-c",
			`model_providers.workflow-action=${provider}`,
			"-c",
			"model_provider=\"workflow-action\""
		],
		...inputs.model ? ["--model", inputs.model] : [],
		...inputs.effort ? ["-c", `model_reasoning_effort=${JSON.stringify(inputs.effort)}`] : [],
		...schema ? ["--output-schema", schema] : [],
		...inputs.args,
		...[
			"--sandbox",
			inputs.sandbox,
			"-"
		]
	];
}
function schemaFile({ schema }, folder) {
	if (schema.kind !== "text") return schema.kind === "file" ? schema.path : void 0;
	const path = (0, node_path.join)(folder, "schema.json");
	(0, node_fs.writeFileSync)(path, schema.text, { mode: 420 });
	return path;
}
/** Without the inputs, the runner's own tokens, and the files through which a step can change later steps. */
const dropped = /^(?:INPUT_|AGENTCLI_|ACTIONS_|GITHUB_(?:TOKEN|ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)$|NODE_OPTIONS$)/;
function execEnvironment(inputs, { token }, variables) {
	const kept = Object.fromEntries(Object.entries(variables).filter(([name]) => !dropped.test(name)));
	const { home, agentHome } = homesOf(inputs, variables);
	return {
		...kept,
		HOME: home,
		AGENT_HOME: agentHome,
		[tokenVariable]: token
	};
}
function homesOf({ strategy, agentUser, agentHome }, { HOME = "", AGENT_HOME }) {
	if (strategy !== "unprivileged-user") return {
		home: HOME,
		agentHome: agentHome || AGENT_HOME || (0, node_path.join)(HOME, ".agentcli")
	};
	const home = execute([
		findProgram("getent") ?? "",
		"passwd",
		agentUser
	]).stdout.split(":")[5] ?? "";
	if (home === "") throw new StepError(`agent-user ${agentUser} has no home directory.`);
	const chosen = agentHome || (0, node_path.join)(home, ".agentcli");
	const made = execute(asRoot(findProgram("install") ?? "", "-d", "-o", agentUser, "-m", "755", chosen));
	if (!made.ok) throw new StepError(`${chosen} could not be created for ${agentUser}: ${made.stderr.trim()}`);
	return {
		home,
		agentHome: chosen
	};
}
/** As the user who runs the agent. sudo sets a PATH of its own, which may lack what the job has set up. */
function asAgent(command, { strategy, agentUser, workingDirectory }, environment) {
	if (strategy !== "unprivileged-user") return command;
	const test = findProgram("test") ?? "";
	for (const path of [...command.slice(0, 2), workingDirectory]) if (!execute(underSudo(["-u", agentUser], [
		test,
		"-r",
		path
	])).ok) throw new StepError(`agent-user ${agentUser} cannot read ${path}. Give it access in a step before.`);
	return underSudo([
		`--preserve-env=${Object.keys(environment).join(",")}`,
		"-u",
		agentUser
	], [
		findProgram("env") ?? "",
		`PATH=${environment.PATH ?? ""}`,
		...command
	]);
}
async function execAgent(command, inputs, environment) {
	const [program = "", ...args] = asAgent(command, inputs, environment);
	const child = (0, node_child_process.spawn)(program, args, {
		env: environment,
		cwd: inputs.workingDirectory,
		stdio: [
			"pipe",
			"pipe",
			"pipe"
		]
	});
	child.stdin.on("error", () => {});
	child.stdin.end(inputs.prompt);
	const ended = new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code) => resolve(code ?? 1));
	});
	const result = emptyResult();
	(0, node_readline.createInterface)({ input: child.stderr }).on("line", log);
	for await (const line of (0, node_readline.createInterface)({ input: child.stdout })) showEvent(line, result);
	return {
		...result,
		exitCode: await ended
	};
}
function showEvent(line, result) {
	const text = readEvent(parse(line), result);
	if (text !== "") log(text);
}
function parse(line) {
	try {
		return JSON.parse(line);
	} catch {
		return {
			type: "text",
			text: line
		};
	}
}
function publish(result, { outputFile, workingDirectory }, variables) {
	setOutput(variables, "final-message", result.finalMessage);
	setOutput(variables, "thread-id", result.threadId);
	setOutput(variables, "usage", JSON.stringify(result.usage));
	setOutput(variables, "exit-code", String(result.exitCode));
	addSummary(variables, summaryOf(result));
	if (outputFile) writeMessage(outputFile, result.finalMessage, workingDirectory);
	if (result.exitCode !== 0) reportError(`The agent failed with exit code ${result.exitCode}. ${result.failure}`.trim());
}
// packages/action/src/main.ts
const steps = {
	async check(variables) {
		readInputs(variables);
		setOutput(variables, "inputs", collectInputs(variables));
		return checkActor(variables);
	},
	install: installCli,
	"start-proxy": startProxy,
	"reduce-privileges": reducePrivileges,
	"drop-root-access": (_, user) => dropRootAccess(user),
	run: runAgent,
	"stop-proxy": stopProxy
};
async function main([name = "", argument = ""]) {
	const step = steps[name];
	if (!step) throw new StepError(`Unknown step "${name}": one of ${Object.keys(steps).join(", ")}.`);
	return step(process.env, argument);
}
main(process.argv.slice(2)).then((code) => {
	process.exitCode = code;
}, (error) => {
	const { message } = error instanceof Error ? error : new Error(String(error));
	reportError(error instanceof StepError ? message : `Internal error: ${message}`);
	process.exitCode = 1;
});
