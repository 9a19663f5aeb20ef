/** Asked for by a task that is to run in an image, with the image as its value. */
export const IMAGE_PROPERTY = 'container-image'

/**
 * Asked for with the value `yes` by every task that names no image: a worker with containers and no image of its own
 * cannot run it. Such a worker registers it with the value `no`; every other one offers it without a word.
 */
export const IMAGELESS_PROPERTY = 'runs-without-image'
