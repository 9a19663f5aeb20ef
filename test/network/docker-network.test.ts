import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownAddresses } from '../../src/app/process/own-addresses.ts'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { hostNetworks, noNetworks } from '../../src/runtimes/network/room-networks.ts'
import { translatedNetworks } from '../../src/runtimes/network/translated-networks.ts'
import { emptyRoom, realClock, runOf, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import { requireTool } from '../../src/testing/require.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from '../rooms/docker-daemon.ts'

const why = whyNoDocker() ?? ['slirp4netns', 'ip'].map(requireTool).find(({ present }) => !present)?.reason
const never = new AbortController().signal

describe(
  'a container with a granted network',
  why === undefined ? {} : { skip: true, meta: { skipReason: why } },
  () => {
    let engine: RunningEngine
    beforeAll(async () => {
      engine = await startDocker()
    })
    afterAll(() => engine?.stop())

    const printedBy = async (script: string, more: Parameters<typeof dockerBy>[2]): Promise<string> => {
      await using by = dockerBy(engine.socketPath, IMAGE, more)
      using room = emptyRoom()
      const end = await by.runtime.run(runOf(shell(script), { room, command: { network: true, env: [] } }), never)
      expect(end.cause, Buffer.from(end.stderr.bytes).toString()).toBe('ok')
      return Buffer.from(end.stdout.bytes).toString()
    }

    test('has its own network without routes to private addresses or the host, and cannot change it', async () => {
      const own = ownAddresses().filter((address) => /^\d/.test(address) && !address.startsWith('127.'))
      await using by = dockerBy(engine.socketPath, IMAGE)
      const networks = translatedNetworks({
        folder: `${by.options.folder}/networks`,
        isRoot: true,
        reach: [],
        own: ownAddresses,
        clock: realClock,
      })
      const script = `
      ip -o link | sed 's/^[0-9]*: \\([^:@]*\\).*/\\1/'
      for address in 10.1.2.3 169.254.169.254 ${own.join(' ')}; do
        ip route get $address > /dev/null 2>&1 || echo unreachable
      done
      ip route get 9.9.9.9 | grep -o 'dev tap0'
      ip route del default 2>/dev/null || echo fixed
      hostname
      cat /etc/hosts`
      const printed = await printedBy(script, { networks })
      const closed = [...Array.from({ length: own.length + 2 }, () => 'unreachable')]
      expect(printed).toBe(
        `${['lo', 'tap0', ...closed, 'dev tap0', 'fixed', 'windlass', '127.0.0.1 localhost windlass', '::1 localhost windlass'].join('\n')}\n`,
      )
    })

    test('has the host\'s network only with mode "host", and does not start with mode "off"', async () => {
      const here = await printedBy('ip -o link | grep -c tap0; true', { networks: hostNetworks() })
      expect(here).toBe('0\n')
      await expect(printedBy('true', { networks: noNetworks('mode is "off"') })).rejects.toMatchObject({
        fault: { kind: 'unavailable', what: expect.stringContaining('mode is "off"') },
      })
    })
  },
)
