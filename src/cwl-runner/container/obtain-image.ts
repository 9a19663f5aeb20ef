import { createHash } from 'node:crypto'
import { invalid } from '../../base/fault.ts'
import type { StepImage } from '../../services/workflows/driver/step-site.ts'
import type { Docker } from '../../workflow/tool/docker.ts'
import type { EngineAnswerText } from './find-engine.ts'

/** Runs docker or podman with these words. */
export type AskEngine = (words: readonly string[], input?: string) => Promise<EngineAnswerText>

/**
 * Images come by the engine's own program and not by its socket: the program has the user's logins to registries, and it
 * builds, loads and imports images, which workers of a grid must not do.
 */
export async function obtainImage(docker: Docker, ask: AskEngine): Promise<StepImage> {
  const image =
    docker.image ?? `localhost/windlass-cwl:${createHash('sha1').update(JSON.stringify(docker)).digest('hex')}`
  mustBeImage(image)
  const present = await nameOf(image, ask)
  if (present !== undefined) return { image: present }
  const got = await ask(wayTo(docker, image), docker.file)
  const name = got.isDone ? await nameOf(image, ask) : undefined
  return name === undefined ? { trouble: `the image ${image} cannot be had: ${got.problem}` } : { image: name }
}

/** Refuses names that would be read as options. */
function mustBeImage(image: string): void {
  if (!/^[a-z0-9]/i.test(image)) throw invalid(`${JSON.stringify(image.slice(0, 200))} is no name of an image`)
}

/**
 * The whole name of an image that is present; undefined when there is none. An image may be given by its id, and Podman's
 * own images are on `localhost`, which a short name does not say.
 */
async function nameOf(image: string, ask: AskEngine): Promise<string | undefined> {
  const { isDone, stdout } = await ask([
    'image',
    'inspect',
    '--format',
    '{{json .RepoTags}} {{json .RepoDigests}}',
    image,
  ])
  if (!isDone) return undefined
  const names = stdout.match(/"[^"]+"/g)?.map((quoted) => quoted.slice(1, -1)) ?? []
  return names.find((name) => name === image || name.endsWith(`/${image}`)) ?? names[0] ?? image
}

/** The arguments that obtain an image that is not present. */
function wayTo({ load, importFrom, file }: Docker, image: string): readonly string[] {
  if (load !== undefined) return ['load', `--input=${load}`]
  if (importFrom !== undefined) return ['import', '--', importFrom, image]
  // The Dockerfile comes from standard input: there is no build context to copy from.
  if (file !== undefined) return ['build', '--tag', image, '-']
  return ['pull', image]
}
