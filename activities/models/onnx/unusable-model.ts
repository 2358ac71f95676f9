/** A model that cannot be used while its files stay as they are. The message goes on behind the model's name. */
export class UnusableModel extends Error {
  override readonly name = 'UnusableModel';
}
