/** The execution backends, by their names in the settings. */
export const BACKENDS = ['auto', 'host', 'sandbox', 'unshare', 'docker', 'apptainer'] as const
export type Backend = (typeof BACKENDS)[number]

/** Backends that run a task in the image that it names. */
export const takesImages = (backend: Backend): boolean => backend === 'docker' || backend === 'apptainer'
