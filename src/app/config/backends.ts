/** What commands run in, by the names of the settings. */
export const BACKENDS = ['auto', 'host', 'sandbox', 'unshare', 'docker', 'apptainer'] as const
export type Backend = (typeof BACKENDS)[number]

/** Those that take an image from the task. */
export const takesImages = (backend: Backend): boolean => backend === 'docker' || backend === 'apptainer'
