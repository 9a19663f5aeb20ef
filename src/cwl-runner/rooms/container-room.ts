import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { RoomPlace } from '../../model/command-task.ts'
import type { RoomMount } from '../../runtimes/run/runtime.ts'
import { ROOM_INSIDE } from '../../services/workflows/driver/step-room.ts'
import type { InputStage } from '../../worker/inputs/stage-inputs.ts'
import { NO_OUTPUTS, type OutputCollector } from '../../worker/outputs/output-collector.ts'
import { isWithin } from '../files/file-address.ts'
import type { LocalStore } from './local-store.ts'
import { fillRoom, NOTHING_HELD } from './stage-locally.ts'

/** The room of one command in a container: how it is filled, and how its outputs are left for this machine. */
export interface ContainerRoom {
  readonly inputs: InputStage
  readonly outputs: OutputCollector
}

/** An input with the empty file or directory in the room that it covers. */
interface CoveringMount extends RoomMount {
  readonly point: string
}

/**
 * The container mounts the inputs, so that large ones are not copied. `changeable` are the paths, as the command sees them,
 * of inputs that it may change in place.
 */
export function containerRoom(store: LocalStore, changeable: ReadonlySet<string>): ContainerRoom {
  const mounts: CoveringMount[] = []
  return {
    inputs: {
      async stage(task, root, signal) {
        const { places = [] } = task
        const show = ({ source, path: point, kind }: { source: string; path: string; kind: 'file' | 'directory' }) => {
          if (kind === 'directory') mkdirSync(point)
          else writeFileSync(point, '', { flag: 'wx' })
          const at = pathInContainer(point, { root, places })
          mounts.push({ source: realpathSync.native(source), at, writable: changeable.has(at), point })
        }
        await fillRoom({ task, root, store, show }, signal)
        return { ...NOTHING_HELD, mounts }
      },
    },
    outputs: {
      async collect({ task: { workingDirectory, places = [] }, root }) {
        settle({ outdir: join(root, workingDirectory), root, places, mounts })
        return { outputs: NO_OUTPUTS, blobs: [] }
      },
    },
  }
}

/** The path at which the command sees a path of the room. */
function pathInContainer(path: string, { root, places }: Pick<LeftRoom, 'root' | 'places'>): string {
  const place = places.find((one) => isWithin(path, join(root, one.path)))
  return place === undefined
    ? ROOM_INSIDE + path.slice(root.length)
    : place.at + path.slice(join(root, place.path).length)
}

interface LeftRoom {
  readonly outdir: string
  readonly root: string
  readonly places: readonly RoomPlace[]
  readonly mounts: readonly CoveringMount[]
}

/**
 * Mounts leave empty files behind, and links that the command made contain paths of the container. Both become links to
 * the real files.
 */
function settle({ outdir, root, places, mounts }: LeftRoom): void {
  const shown: readonly { readonly at: string; readonly source: string }[] = [
    ...mounts.toReversed(),
    ...places.map(({ path, at }) => ({ at, source: join(root, path) })),
    { at: ROOM_INSIDE, source: root },
  ]
  // First the command's links: ours contain paths of this machine, which may equal paths of the container.
  redirectLinks(outdir, (path) => {
    const within = shown.find(({ at }) => isWithin(path, at))
    return within && within.source + path.slice(within.at.length)
  })
  for (const { source, point } of mounts) if (isWithin(point, outdir)) leaveLink(point, source)
}

function leaveLink(path: string, target: string): void {
  rmSync(path, { recursive: true, force: true })
  symlinkSync(target, path)
}

function redirectLinks(folder: string, onMachine: (path: string) => string | undefined): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stats = lstatSync(path)
    if (stats.isDirectory()) redirectLinks(path, onMachine)
    if (!stats.isSymbolicLink()) continue
    const target = readlinkSync(path)
    const there = target.startsWith('/') ? onMachine(target) : undefined
    if (there !== undefined && there !== target) leaveLink(path, there)
  }
}
