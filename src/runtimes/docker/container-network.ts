import { noRoomNetwork, type RoomNetwork, type RoomNetworks } from '../network/room-networks.ts'
import { INSIDE } from '../run/inside.ts'
import type { ContainerEngine } from './engine.ts'

/** The network of one container. */
export interface ContainerNetwork extends AsyncDisposable {
  /** The network's name for the engine. */
  readonly mode: string
  /** Files that the container sees in place of its own. */
  readonly files: RoomNetwork['files']
}

export interface ContainerNetworkSpec {
  readonly engine: ContainerEngine
  readonly networks: RoomNetworks | undefined
  /** The engine's network that stands for the machine's network, where the operator grants it. */
  readonly machineNetwork: string
  readonly name: string
  /** The command's image: the second container can use any image, and this one is already present. */
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
  /** The path of the pause program; undefined where none exists for this architecture. */
  readonly pause: string | undefined
}

const PAUSE = '/.windlass-pause'
const PAUSE_MEMORY_BYTES = 16 << 20
const PAUSE_PROCESSES = 4

/**
 * Makes a network for a container: the network namespace of a second container that only waits, without any of the
 * engine's networks. It is connected and gets its routes before the command's container joins it.
 */
export async function containerNetwork(order: ContainerNetworkSpec): Promise<ContainerNetwork> {
  const { engine, networks, machineNetwork } = order
  if (networks === undefined) throw noRoomNetwork('this worker grants none')
  if (networks.isMachine) return { mode: machineNetwork, files: [], [Symbol.asyncDispose]: async () => {} }
  await using parts = new AsyncDisposableStack()
  const id = await engine.create(`${order.name}-network`, waitingBody(order))
  parts.defer(() => engine.remove(id))
  const problem = await engine.start(id)
  if (problem !== undefined) throw noRoomNetwork(problem)
  const { pid } = await engine.state(id)
  if (pid <= 0) throw noRoomNetwork('the container that keeps it has ended')
  const { files } = parts.use(await networks.connect(pid))
  const open = parts.move()
  return { mode: `container:${id}`, files, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

function waitingBody({ image, labels, pause }: ContainerNetworkSpec): object {
  if (pause === undefined) throw noRoomNetwork('there is no program for this architecture that keeps it')
  return {
    Image: image,
    Entrypoint: [PAUSE],
    Cmd: [],
    Env: [],
    WorkingDir: '/',
    User: '65534:65534',
    Labels: labels,
    Hostname: INSIDE.hostname,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Mounts: [{ Type: 'bind', Source: pause, Target: PAUSE, ReadOnly: true }],
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'none' },
      RestartPolicy: { Name: 'no' },
      Memory: PAUSE_MEMORY_BYTES,
      PidsLimit: PAUSE_PROCESSES,
      Ulimits: ['nofile', 'nproc'].map((Name) => ({ Name, Soft: 64, Hard: 64 })),
    },
  }
}
