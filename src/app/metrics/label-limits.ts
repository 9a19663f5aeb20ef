/**
 * Clients choose the names of instances and platforms, and each pair has about a dozen histograms. This many pairs have
 * their own metrics; later ones are counted together.
 */
export const MAX_LABELLED = 100

const MAX_LABEL_LENGTH = 120

export const shortLabel = (name: string): string =>
  name.length > MAX_LABEL_LENGTH ? `${name.slice(0, MAX_LABEL_LENGTH)}…` : name
