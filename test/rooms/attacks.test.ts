import { bareBy } from '../../src/runtimes/bare.fixture.ts'
import { sandboxBy } from '../../src/runtimes/sandbox/sandbox.fixture.ts'
import { unshareBy } from '../../src/runtimes/unshare/unshare.fixture.ts'
import { attackSuite, whyNoAttacks } from './attack-suite.ts'

/** Each of its own, so that whose process is left can be told. */
const users = { bare: at(65_525), unshare: at(65_526), sandbox: at(65_527) }

function at(id: number) {
  return { uid: id, gid: id }
}

attackSuite([
  {
    room: 'bare',
    why: whyNoAttacks(),
    start: () => attacked(bareBy('spawner', true, { user: users.bare }), users.bare.uid),
  },
  {
    room: 'unshare',
    why: whyNoAttacks('unshare'),
    start: () =>
      attacked(unshareBy({ way: 'spawner', useGroups: true, more: { user: users.unshare } }), users.unshare.uid),
  },
  {
    room: 'sandbox',
    why: whyNoAttacks('bwrap'),
    start: () =>
      attacked(sandboxBy({ way: 'spawner', useGroups: true, more: { user: users.sandbox } }), users.sandbox.uid),
  },
])

const attacked = ({ runtime, name, close }: ReturnType<typeof bareBy>, uid: number) => ({
  runtime,
  uid,
  launcher: name,
  close,
})
