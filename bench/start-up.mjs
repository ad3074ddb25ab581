// `npm run bench -- --only start --executable FILE --row 'counterpart=COMMAND with {url}'`: the start of the package, of the
// executable and of other programs, in rounds that begin with another one each time. Ratios are against the last --row.
import { median, minimum, run } from "./measure.mjs";

const limits = { "one file": { wall: 0.42, first: 0.5 } };

/** Programs: name, program, args, env. Without other programs ratios are against the first. */
export async function startUpRows({ programs, others, server, rounds }) {
  const all = [...programs, ...others].map((each) => ({ ...each, wall: [], first: [] }));
  for (let round = 0; round < rounds + 2; round += 1)
    for (let index = 0; index < all.length; index += 1)
      await measureStart(all[(index + round) % all.length], server, round >= 2);
  const base = others.length > 0 ? all.at(-1) : all[0];
  const kinds = [
    ["wall", "hello, wall"],
    ["first", "hello, first request"],
  ];
  return kinds.flatMap(([kind, what]) =>
    Object.entries({ minimum, median }).flatMap(([name, of]) =>
      all.map((each) => {
        const limit = others.length > 0 ? limits[each.name]?.[kind] : undefined;
        const ratio = of(each[kind]) / of(base[kind]);
        return [`${what}, ${name} of ${rounds}`, each.name, of(each[kind]), "ms", ratio, limit ? `≤ ${limit}x` : ""];
      }),
    ),
  );
}

/** One start; `counts`: whether its times are kept. */
export async function measureStart(each, server, counts) {
  server.reset();
  let startedAt = 0;
  const { wallMs } = await run(each, (at) => {
    startedAt = at;
  });
  if (!counts) return;
  each.wall.push(wallMs);
  if (server.arrivals[0] !== undefined) each.first.push(server.arrivals[0] - startedAt);
}
