import { isFreePlace } from '../model/command-task.ts'
import { stepRoom } from '../services/workflows/driver/step-room.ts'
import { noPlace, type StepSite } from '../services/workflows/driver/step-site.ts'
import type { Machine } from './machine.ts'
import { localRoom } from './rooms/local-rooms.ts'
import type { LocalStore } from './rooms/local-store.ts'

export interface LocalSiteOptions {
  readonly machine: Pick<Machine, 'containers' | 'watch' | 'signal' | 'folder'>
  readonly store: LocalStore
  /** The name of the room. */
  readonly name: string
}

/** This machine as the site of one step: without isolation, unless the step has a container. */
export const localSite = ({ machine, store, name }: LocalSiteOptions): StepSite => ({
  stager: store.stager,
  trees: store.trees,
  mostWritable: Number.POSITIVE_INFINITY,
  isolation: 'none',
  isShared: true,
  async image(docker) {
    const { containers, signal } = machine
    const { outputDirectory } = docker
    if (containers === undefined) return { trouble: 'containers are switched off' }
    if (outputDirectory !== undefined && !isFreePlace(outputDirectory)) return { trouble: noPlace(outputDirectory) }
    return containers.image(docker, signal)
  },
  showsPlaces: async () => true,
  room: (docker) => (docker === undefined ? localRoom(machine.folder, name) : stepRoom(docker.outputDirectory)),
  goesWithout: (path, trouble) =>
    machine.watch.noted(path, `runs without its container, which is only a hint: ${trouble}`),
})
