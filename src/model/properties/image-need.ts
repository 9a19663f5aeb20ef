/** A task that runs in an image requires this property, with the image as its value. */
export const IMAGE_PROPERTY = 'container-image'

/**
 * Every task without an image requires this property with the value `yes`: a worker that runs containers and has no
 * default image cannot run it. Such a worker registers the value `no`; for every other worker the server adds `yes`.
 */
export const IMAGELESS_PROPERTY = 'runs-without-image'
