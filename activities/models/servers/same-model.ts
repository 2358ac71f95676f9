/** Whether a server's list means the model that is wanted: `:latest` may be left out. */
export const sameModel = (listed: string, wanted: string): boolean =>
  listed === wanted || listed === `${wanted}:latest` || `${listed}:latest` === wanted;
