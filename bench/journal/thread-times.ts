import { readdirSync, readFileSync } from 'node:fs'

/** What threads of one name have had of the processor, and for how long they could have gone on and there was none; in µs. */
export interface ThreadTime {
  ran: number
  waited: number
}

const TASKS = '/proc/self/task'

/** By name, all threads of this process. Only Linux says; elsewhere there are none. */
export function threadTimes(): Map<string, ThreadTime> {
  const times = new Map<string, ThreadTime>()
  for (const thread of threads()) {
    const [name, ran, waited] = statOf(thread)
    const time = times.get(name) ?? { ran: 0, waited: 0 }
    time.ran += ran
    time.waited += waited
    times.set(name, time)
  }
  return times
}

function threads(): string[] {
  try {
    return readdirSync(TASKS)
  } catch {
    return []
  }
}

/** A thread may end while it is looked at. */
function statOf(thread: string): [name: string, ran: number, waited: number] {
  try {
    const [ran, waited] = readFileSync(`${TASKS}/${thread}/schedstat`, 'utf8').split(' ')
    return [readFileSync(`${TASKS}/${thread}/comm`, 'utf8').trim(), Number(ran) / 1000, Number(waited) / 1000]
  } catch {
    return ['gone', 0, 0]
  }
}

const NONE: ThreadTime = { ran: 0, waited: 0 }

/** How much came to it since. */
export function since(before: ReadonlyMap<string, ThreadTime>, name: string, now = threadTimes()): ThreadTime {
  const [then, later] = [before.get(name) ?? NONE, now.get(name) ?? NONE]
  return { ran: later.ran - then.ran, waited: later.waited - then.waited }
}
