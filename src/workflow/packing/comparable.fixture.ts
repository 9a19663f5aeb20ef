import type { Process } from '../process/process.ts'

/** A process without positions, ids and document settings, which depend on its document. */
export const comparable = (process: Process): unknown =>
  JSON.parse(
    JSON.stringify(process, (key, value: unknown) => {
      if (key === 'at' || key === 'id' || key === 'namespaces' || key === 'schemas') return undefined
      const isList = key === 'requirements' && Array.isArray(value)
      return isList ? value.filter((one: { class: string }) => one.class !== 'SchemaDefRequirement') : value
    }),
  )
