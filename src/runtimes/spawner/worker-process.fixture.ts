/** A worker that starts a command through its spawner, prints their pids, and waits to be killed. */

import { bareBy } from '../bare/bare.fixture.ts'
import { emptyRoom, realClock, runOf, shell } from '../run/rooms.fixture.ts'

// biome-ignore lint/style/noRestrictedGlobals: this file is a process of its own
const host = process
const bare = bareBy('spawner', host.argv[2] === 'groups')
const room = emptyRoom()
const stdout = (bytes: Uint8Array): void => void host.stdout.write(bytes)
const script = 'echo $PPID $$; sleep 64 & echo $!; (setsid sleep 65 & echo $!); wait'
realClock.after(60_000, () => host.exit(1)) // in case the process that should kill it has died
await bare.runtime.run(runOf(shell(script), { room, hooks: { stdout } }), new AbortController().signal)
