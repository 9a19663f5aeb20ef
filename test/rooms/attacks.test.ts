import { type BareUnderTest, bareBy, ORDINARY_USER, whyNotOrdinary } from '../../src/runtimes/bare/bare.fixture.ts'
import { sandboxBy } from '../../src/runtimes/sandbox/sandbox.fixture.ts'
import { unshareBy } from '../../src/runtimes/unshare/unshare.fixture.ts'
import { type Attacked, attackSuite, whyNoAttacks } from './attack-suite.ts'
import type { Attack } from './attack-table.ts'
import { processesOf } from './host-state.ts'

/** One user each, so that a process that is left can be attributed. */
const users = { bare: at(65_525), unshare: at(65_526), sandbox: at(65_527) }

function at(id: number) {
  return { uid: id, gid: id }
}

/** Attacks on resources that rooms share with each other and with the worker. */
const CROSSING = ['write-init.c', 'grab-init.c', 'false-end.c', 'device-modes.c']
const WITHOUT_GROUPS = ({ file, part }: Attack): boolean =>
  part === 'processes' || part === 'files' || ['memfd-fill.c', 'sysv-fill.c'].includes(file)

attackSuite([
  {
    room: 'bare',
    how: 'of a worker that is root',
    why: whyNoAttacks(),
    start: () => attacked(bareBy('spawner', true, { user: users.bare }), users.bare.uid),
  },
  {
    room: 'unshare',
    how: 'of a worker that is root',
    why: whyNoAttacks('unshare'),
    start: () =>
      attacked(unshareBy({ way: 'spawner', useGroups: true, more: { user: users.unshare } }), users.unshare.uid),
  },
  {
    room: 'sandbox',
    how: 'of a worker that is root',
    why: whyNoAttacks('bwrap'),
    start: () =>
      attacked(sandboxBy({ way: 'spawner', useGroups: true, more: { user: users.sandbox } }), users.sandbox.uid),
  },
  {
    room: 'bare',
    how: 'of a worker without root',
    // Without control groups a bare room finds its processes by marks, which a process can remove: it logs this when it
    // starts.
    only: ({ file }) => CROSSING.includes(file),
    why: whyNoAttacks() ?? whyNotOrdinary(),
    start: () => attackedAsUser(bareBy('ordinary', true)),
  },
  {
    room: 'unshare',
    how: 'of a worker without root',
    only: WITHOUT_GROUPS,
    why: whyNoAttacks('unshare') ?? whyNotOrdinary(),
    start: () => attackedAsUser(unshareBy({ way: 'ordinary', useGroups: true })),
  },
  {
    room: 'sandbox',
    how: 'of a worker without root',
    only: WITHOUT_GROUPS,
    why: whyNoAttacks('bwrap') ?? whyNotOrdinary(),
    start: () => attackedAsUser(sandboxBy({ way: 'ordinary', useGroups: true })),
  },
])

/** A worker that shares its user with its rooms, and may not create control groups. */
async function attackedAsUser(rooms: BareUnderTest): Promise<Attacked> {
  await rooms.launcher.facts()
  return { ...attacked(rooms, ORDINARY_USER.uid), own: processesOf(ORDINARY_USER.uid) }
}

const attacked = ({ runtime, name, close }: ReturnType<typeof bareBy>, uid: number) => ({
  runtime,
  uid,
  launcher: name,
  close,
})
