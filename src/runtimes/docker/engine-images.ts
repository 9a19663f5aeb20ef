import { FaultError } from '../../base/fault.ts'
import type { ImageName } from '../images/image-name.ts'
import { type ImageStore, notHad, type StoredImage } from '../images/image-store.ts'
import { mismatch } from '../run/mismatch.ts'
import type { ContainerEngine, EngineImage } from './engine.ts'

/** The images of an engine. A command runs in the image that was found, by its id, even if the tag moves meanwhile. */
export function engineImages(engine: ContainerEngine): ImageStore {
  const find = async (name: ImageName): Promise<StoredImage | undefined> => {
    const image = await engine.image(knownAs(name))
    return image && storedOf(image)
  }
  return {
    find,
    async pull(name, withinMs) {
      if (name.kind === 'path') throw unknownPath(name)
      const { registry, repository, tag, digest } = name
      const why = await engine.pull(`${registry}/${repository}`, digest ?? tag ?? 'latest', withinMs)
      if (why !== undefined) throw notHad(name, why)
      const image = await find(name)
      if (image === undefined)
        throw new FaultError({
          kind: 'unavailable',
          what: `the container image ${name.text} was pulled, but the engine does not have it`,
        })
      return image
    },
    remove: (name) => engine.removeImage(knownAs(name)),
  }
}

/** Leaves out the tag: engines differ on the meaning of a tag before a digest. */
function knownAs(name: ImageName): string {
  if (name.kind === 'path') throw unknownPath(name)
  const { registry, repository, tag, digest } = name
  return `${registry}/${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`
}

const unknownPath = ({ text }: ImageName): Error =>
  mismatch(`the container image ${text} is a path, and an engine of containers takes images of registries only`)

const storedOf = ({ id, ...image }: EngineImage): StoredImage => ({ digest: id, source: id, ...image })
