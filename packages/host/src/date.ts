// The date as the prompt states it. The command line uses the user's time zone; services use UTC.
export interface Today {
  date: string;
  timezone: string;
}

export function localToday(now = new Date()): Today {
  const offset = -now.getTimezoneOffset();
  const timezone = `UTC${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return { date: `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`, timezone };
}

export const utcToday = (now = new Date()): Today => ({
  date: now.toISOString().slice(0, 10),
  timezone: "UTC+00:00",
});

const two = (number: number): string => String(number).padStart(2, "0");
