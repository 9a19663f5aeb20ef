import { isFreePlace } from '../../../model/command-task.ts'
import type { IsolationLevel } from '../../../model/isolation.ts'
import type { LayOutTools } from '../../../stagers/lay-out.ts'
import type { Docker } from '../../../workflow/tool/docker.ts'
import type { ToolRoom } from '../../../workflow/tool/room.ts'
import { stepRoom } from './step-room.ts'

/** Where the commands of a workflow run: on the workers of a server, or on this machine. */
export interface StepSite extends LayOutTools {
  /** The weakest isolation of a step without a container. */
  readonly isolation: IsolationLevel
  /**
   * The site and the caller have the same files. Outputs are then read in the room itself, so the task names none, and
   * an input that a command may change in place is the caller's own file.
   */
  readonly isShared: boolean
  /** The name of an image that exists or can be pulled where the step runs; or why there is none. */
  image(docker: Docker): Promise<StepImage>
  /** Whether a container can mount parts of its room at other paths. */
  showsPlaces(): Promise<boolean>
  /** The paths that the command sees; `docker` is undefined for a step without a container. */
  room(docker: Docker | undefined): ToolRoom
  /** Called when a step runs without a container that was only a hint. */
  goesWithout?(path: string, trouble: string): void
}

export type StepImage = { readonly image: string } | { readonly trouble: string }

/**
 * `runsImages`: whether any worker runs containers; with `inPlaces`, whether one can mount parts of a room at other
 * paths.
 */
export const gridSite = (tools: LayOutTools, runsImages: (inPlaces: boolean) => Promise<boolean>): StepSite => ({
  ...tools,
  isolation: 'namespaces',
  isShared: false,
  image: (docker) => imageOfWorkers(docker, runsImages),
  showsPlaces: () => runsImages(true),
  room: (docker) => stepRoom(docker?.outputDirectory),
})

async function imageOfWorkers(
  { image, outputDirectory }: Docker,
  runsImages: (inPlaces: boolean) => Promise<boolean>,
): Promise<StepImage> {
  if (image === undefined || image.startsWith('/')) return { trouble: NAMELESS }
  if (!(await runsImages(false))) return { trouble: 'no worker runs containers' }
  if (outputDirectory === undefined) return { image }
  if (!isFreePlace(outputDirectory)) return { trouble: noPlace(outputDirectory) }
  return (await runsImages(true)) ? { image } : { trouble: PLACELESS }
}

export const noPlace = (at: string): string => `nothing can be shown at ${JSON.stringify(at)}`

/** Workers of a grid must not build images or load them from arbitrary addresses. */
const NAMELESS =
  'workers take images by name only (dockerPull or dockerImageId): dockerFile, dockerLoad and dockerImport are for runs without a server'
export const PLACELESS = 'no worker runs containers that show their room in other places'
