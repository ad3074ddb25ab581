// A discrete-event simulation of servers that share one database: how they look for runs, are woken, renew leases, and take over
// what a lost one has left. What each step costs is measured on one server (capacity.mjs); the rules are those of the code.
import { createClock, createProcessor, createRandom, exponential, quantile } from "./capacity-events.mjs";

/** Seconds, as the code has them; checks/capacity.test.ts compares. */
export const rules = {
  lookForRuns: 1,
  lookForWorkers: 2,
  reportWorkers: 20,
  lease: 10,
  renewalsPerLease: 3,
  actingServers: 8,
  reconnectPause: 0.5,
  databaseConnections: 20,
  /** One that listens, one that holds the id of the server, and those of its jobs. */
  otherConnections: 19,
};

/**
 * `costs`: measured seconds of processors. `scenario`: servers, workers, runsPerSecond or burst, turnSeconds, shareOnWorkers,
 * noticesPerSecond of a run, slots and databaseCores; lostServers are killed after `loseAt` seconds.
 */
export function simulate(costs, scenario) {
  const simulation = createState(costs, scenario);
  const { clock } = simulation;
  for (const server of simulation.servers) startServer(simulation, server);
  startRuns(simulation);
  if (scenario.lostServers > 0) clock.after(scenario.loseAt, () => loseServers(simulation));
  clock.runUntil(scenario.seconds);
  return resultsOf(simulation);
}

function createState(costs, scenario) {
  const clock = createClock();
  const perServer = Math.ceil(scenario.workers / scenario.servers);
  return {
    ...{ costs, scenario, clock, random: createRandom(scenario.seed ?? 1) },
    database: createProcessor(clock, scenario.databaseCores),
    /** Transactions that notify commit one after another. */
    commits: createProcessor(clock, 1),
    servers: Array.from({ length: scenario.servers }, () => ({
      ...{ isUp: true, active: 0, isLooking: false, isExpecting: false, assigned: [], runs: new Set() },
      freeWorkers: perServer,
      processor: createProcessor(clock, 1),
    })),
    ...{ waiting: [], withoutWorker: [], statements: 0, notices: 0, deliveries: 0, claims: 0, ended: 0, lastEnd: 0 },
    ...{ claimWaits: [], takeovers: [], doubles: 0 },
  };
}

/** A small statement. */
function ask(state, done) {
  state.statements += 1;
  state.database.work(state.costs.statement, done);
}

function startServer(state, server) {
  const { clock, random, costs } = state;
  const repeat = (seconds, act) => clock.every(seconds, random, () => server.isUp && act());
  repeat(rules.lookForRuns, () => look(state, server));
  repeat(rules.lookForWorkers, () => assign(state));
  // What else an idle server asks, with all its roles.
  const others = costs.idleStatementsPerSecond - 1 / rules.lookForRuns - 1 / rules.lookForWorkers;
  if (others > 0) repeat(1 / others, () => ask(state));
  repeat(rules.reportWorkers, () => {
    state.statements += 2;
    state.database.work(costs.reportedWorker * server.freeWorkers);
  });
  repeat(rules.lease / rules.renewalsPerLease, () => renew(state, server));
}

/** Each run has its own timer; together they are as many statements. */
function renew(state, server) {
  for (const run of server.runs) {
    run.leaseUntil = state.clock.now() + rules.lease;
    ask(state);
  }
}

function startRuns(state) {
  const { scenario, clock, random } = state;
  const { burst = 0, runsPerSecond = 0, turnSeconds } = scenario;
  // As many as there are at any time: turns have no memory.
  const atWork = Math.round(runsPerSecond * turnSeconds);
  for (let index = 0; index < atWork; index += 1) {
    const run = newRun(state);
    const server = run.needsWorker ? serverWithWorker(state) : serverWithSlot(state);
    if (server) begin(state, server, run);
  }
  for (let index = 0; index < burst; index += 1) clock.after(0, () => create(state));
  const next = () => {
    create(state);
    clock.after(exponential(1 / runsPerSecond, random), next);
  };
  if (runsPerSecond > 0) clock.after(exponential(1 / runsPerSecond, random), next);
}

const newRun = ({ clock, random, scenario }) => ({
  createdAt: clock.now(),
  needsWorker: random() < scenario.shareOnWorkers,
  ...{ isHeld: false, leaseUntil: 0, lostAt: null },
});

const pick = ({ servers, random }, fits) => {
  for (let tries = 0; tries < 50; tries += 1) {
    const server = servers[Math.floor(random() * servers.length)];
    if (server.isUp && fits(server)) return server;
  }
  return servers.find((server) => server.isUp && fits(server));
};
const serverWithWorker = (state) => pick(state, ({ freeWorkers }) => freeWorkers > 0);
const serverWithSlot = (state) => pick(state, ({ active }) => active < state.scenario.slots);

function create(state) {
  const run = newRun(state);
  ask(state, () => {
    (run.needsWorker ? state.withoutWorker : state.waiting).push(run);
    notify(state, (server) => (run.needsWorker ? assign(state) : look(state, server)), "some");
  });
}

/** Delivered to every server; `target` says which of them act: "some", one server, or none. */
function notify(state, act, target) {
  const { commits, database, costs, servers, random } = state;
  state.notices += 1;
  commits.work(costs.notice, () => {
    const up = servers.filter(({ isUp }) => isUp);
    state.deliveries += up.length;
    database.work(costs.delivery * up.length, () => {
      if (target === null) return;
      if (target !== "some") return void (target.isUp && act(target));
      const share = rules.actingServers / up.length;
      for (const server of up) if (random() < share) act(server);
    });
  });
}

/** One statement at a time, and another one while there may be more. */
function look(state, server) {
  server.isExpecting = true;
  if (server.isLooking || !mayLook(state, server)) return;
  server.isLooking = true;
  server.isExpecting = false;
  ask(state, () => {
    server.isLooking = false;
    if (!server.isUp) return;
    const run = server.assigned.shift() ?? takeLost(state, server) ?? state.waiting.shift();
    if (run) begin(state, server, run);
    if (run || server.isExpecting) look(state, server);
  });
}

/** `firstOnly`: the others start when the first is lost. */
function mayLook({ scenario, clock, servers }, server) {
  if (scenario.firstOnly && server !== servers[0] && clock.now() < scenario.loseAt) return false;
  return server.isUp && server.active < scenario.slots;
}

/** Runs whose lease has ended: of those on workers, the ones whose worker has come here. */
function takeLost({ clock, lost = [] }, server) {
  const index = lost.findIndex((run) => run.leaseUntil < clock.now() && (!run.needsWorker || run.workerAt === server));
  return index < 0 ? undefined : lost.splice(index, 1)[0];
}

/** One server at a time decides for all that wait. */
function assign(state) {
  ask(state, () => {
    const chosen = new Set();
    for (const run of state.withoutWorker.splice(0)) {
      const server = serverWithWorker(state);
      if (server === undefined) {
        state.withoutWorker.push(run);
        continue;
      }
      server.freeWorkers -= 1;
      run.hasWorker = true;
      server.assigned.push(run);
      chosen.add(server);
    }
    for (const server of chosen) notify(state, (one) => look(state, one), server);
  });
}

function begin(state, server, run) {
  const { clock, costs, scenario, random, database } = state;
  if (run.isHeld) state.doubles += 1;
  run.isHeld = true;
  if (run.needsWorker && !run.hasWorker) server.freeWorkers -= 1;
  run.hasWorker = true;
  run.leaseUntil = clock.now() + rules.lease;
  server.active += 1;
  server.runs.add(run);
  if (run.lostAt !== null) state.takeovers.push(clock.now() - run.lostAt);
  else if (clock.now() > 0) {
    state.claims += 1;
    state.claimWaits.push(clock.now() - run.createdAt);
  }
  const end = () => {
    if (!server.runs.delete(run)) return;
    server.active -= 1;
    if (run.needsWorker) server.freeWorkers += 1;
    [state.ended, state.lastEnd] = [state.ended + 1, clock.now()];
    look(state, server);
  };
  const speak = () => {
    if (!server.runs.has(run)) return;
    notify(state, () => {}, null);
    clock.after(1 / scenario.noticesPerSecond, speak);
  };
  if (scenario.noticesPerSecond > 0) clock.after(random() / scenario.noticesPerSecond, speak);
  const work = () => server.processor.work(costs.serverRun, () => database.work(costs.databaseRun, end));
  state.statements += costs.statementsOfRun;
  if (scenario.turnSeconds === 0) work();
  else clock.after(exponential(scenario.turnSeconds, random), work);
}

/** Their runs stay held until the leases end; their workers connect to others. */
function loseServers(state) {
  const { servers, clock, random, scenario, costs } = state;
  state.lost ??= [];
  for (const server of servers.slice(0, scenario.lostServers)) {
    server.isUp = false;
    for (const run of [...server.runs, ...server.assigned]) {
      Object.assign(run, { lostAt: clock.now(), isHeld: false, workerAt: null });
      // When it was renewed last is not the same for all.
      if (server.runs.has(run)) run.leaseUntil = clock.now() + rules.lease * (1 - random() / rules.renewalsPerLease);
      state.lost.push(run);
      if (run.needsWorker)
        clock.after(rules.reconnectPause * (0.5 + random() / 2), () =>
          state.database.work(costs.registration, () => {
            run.workerAt = pick(state, () => true);
          }),
        );
    }
    server.runs.clear();
  }
}

function resultsOf(state) {
  const { clock, scenario, database, commits } = state;
  const perSecond = (count) => count / clock.now();
  return {
    claimsPerSecond: perSecond(state.claims),
    claimMedian: quantile(state.claimWaits, 0.5),
    claimSlowest: quantile(state.claimWaits, 0.99),
    statementsPerSecond: perSecond(state.statements),
    noticesPerSecond: perSecond(state.notices),
    deliveriesPerSecond: perSecond(state.deliveries),
    databaseShare: database.busySeconds() / scenario.databaseCores / clock.now(),
    commitShare: commits.busySeconds() / clock.now(),
    databaseQueue: database.queued() + commits.queued(),
    takeoverMedian: quantile(state.takeovers, 0.5),
    takeoverLast: quantile(state.takeovers, 1),
    ...{ takeovers: state.takeovers.length, notTakenOver: state.lost?.length ?? 0, doubles: state.doubles },
    ...{ ended: state.ended, makespan: state.lastEnd },
  };
}
