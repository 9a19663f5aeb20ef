/**
 * A worker's launcher in the control group that it was started in; prints the limits that it can enforce, and exits.
 */
import { readFileSync, rmSync } from 'node:fs'
import { bareBy, launcherBy, launcherOptions } from '../../../src/runtimes/bare/bare.fixture.ts'
import { emptyRoom, runOf, shell } from '../../../src/runtimes/run/rooms.fixture.ts'

const options = launcherOptions(true)
const launcher = launcherBy('spawner', options)
const facts = await launcher.facts()
await launcher.close()
rmSync(options.folder, { recursive: true, force: true })
const group = readFileSync('/proc/self/cgroup', 'utf8').trim().replace(/^0::/, '')
const bare = bareBy('spawner', true)
using room = emptyRoom()
const grow = 'awk \'BEGIN { s = "x"; while (length(s) < 1000000000) s = s s }\''
const limits = { memoryBytes: 64 << 20, wallMs: 120_000 }
const { cause } = await bare.runtime.run(runOf(shell(grow), { room, limits }), new AbortController().signal)
await bare.close()
console.log(JSON.stringify({ facts, group, cause }))
