/** A worker whose command prints its open files. */
import { bareBy } from '../bare/bare.fixture.ts'
import { emptyRoom, runOf, shell } from '../run/rooms.fixture.ts'

// biome-ignore lint/style/noRestrictedGlobals: this file is a process of its own
const host = process
await using bare = bareBy('spawner', true)
using room = emptyRoom()
const end = await bare.runtime.run(runOf(shell('echo /proc/$$/fd/*'), { room }), new AbortController().signal)
host.stdout.write(end.stdout.bytes)
