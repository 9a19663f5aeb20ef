import { z } from 'zod'

/** The documentation of a field; its type and default are in the schema. */
export interface About {
  /** A description in one sentence. */
  readonly meaning: string
  /** How the default is derived when it is not a constant. */
  readonly otherwise?: string
  /** The command-line flag that sets it. */
  readonly flag?: string
  /** An empty variable sets it to an empty value: for a list with a long default. */
  readonly emptyIsNone?: boolean
  /**
   * The value is a path, or an address that may be unix:PATH; a relative one is resolved against the working directory.
   */
  readonly holdsPath?: boolean
  /** A running server applies a new value at a reload; all other fields need a restart. */
  readonly reloads?: boolean
}

export interface ConfigField extends About {
  /** `execution.scheduler.max_queue_size` */
  readonly key: string
  /** `execution.scheduler` */
  readonly table: string
  /** `max_queue_size` */
  readonly name: string
  /** `WINDLASS_EXECUTION_SCHEDULER_MAX_QUEUE_SIZE` */
  readonly variable: string
  readonly form: 'string' | 'number' | 'boolean' | 'list' | 'map'
  /** The schema of a map's values. */
  readonly valueForm: ConfigField['form'] | undefined
  readonly choices: readonly string[] | undefined
  readonly standard: unknown
}

const known = z.registry<About>()

/** Adds the documentation to a schema. */
export function configField<S extends z.ZodType>(schema: S, meaning: string, more: Partial<About> = {}): S {
  known.add(schema, { meaning, ...more })
  return schema
}

/** A field that a running server applies at a reload. */
export const live = <S extends z.ZodType>(schema: S, meaning: string, more: Partial<About> = {}): S =>
  configField(schema, meaning, { ...more, reloads: true })

/** All fields of a schema, in source order. */
export function fieldsOf(schema: z.core.$ZodType, path: readonly string[] = []): ConfigField[] {
  const { inner, standard } = unwrap(schema)
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, part]) => fieldsOf(part, [...path, name]))
  }
  const about = known.get(schema)
  const key = path.join('.')
  if (about === undefined) throw new Error(`${key} has no description: use configField(schema, meaning)`)
  return [
    {
      ...about,
      key,
      table: path.slice(0, -1).join('.'),
      name: path.at(-1) ?? '',
      variable: `WINDLASS_${path.join('_').toUpperCase()}`,
      form: formOf(inner),
      valueForm: inner instanceof z.ZodRecord ? formOf(inner.def.valueType) : undefined,
      choices: inner instanceof z.ZodEnum ? inner.options.map(String) : undefined,
      standard,
    },
  ]
}

function unwrap(schema: z.core.$ZodType): { inner: z.core.$ZodType; standard: unknown } {
  if (schema instanceof z.ZodDefault) return { ...unwrap(schema.def.innerType), standard: schema.def.defaultValue }
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) return unwrap(schema.def.innerType)
  return { inner: schema, standard: undefined }
}

function formOf(schema: z.core.$ZodType): ConfigField['form'] {
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodArray) return 'list'
  if (schema instanceof z.ZodRecord) return 'map'
  return 'string'
}
