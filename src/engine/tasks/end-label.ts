/**
 * The label of a task that did not complete, or whose command failed. Lists of failed snippets find them by it. The
 * instance and the origin are part of it, so that a list reads no other tasks.
 */
export const unsuccessfulLabel = ({
  instance,
  origin,
}: {
  readonly instance: string
  readonly origin: string
}): string => JSON.stringify([instance, origin, 'unsuccessful'])
