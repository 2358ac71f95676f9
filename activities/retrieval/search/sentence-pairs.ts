/** A question, and a sentence that answers it in other words. */
type SentencePair = readonly [question: string, answer: string];

const ENGLISH: readonly SentencePair[] = [
  ['How do I get rid of rust on my bicycle?', 'Corrosion comes off a bike with vinegar and a wire brush.'],
  ['What time does the library shut in the evening?', 'Readers may borrow books until eight at night.'],
  ['Can I bring my dog to the hotel?', 'Pets are welcome in all rooms for a small fee.'],
  ['Why does my stomach hurt after eating?', 'Indigestion often follows a heavy meal.'],
  [
    'Who painted the ceiling of the chapel?',
    'Michelangelo decorated the vault with frescoes between 1508 and 1512.',
  ],
  ['How much does a parcel to Japan cost?', 'Shipping to Asia is priced at twelve euros per kilo.'],
  ['Where can I park my car near the airport?', 'Vehicles are left in the garage beside terminal two.'],
  [
    'What should I do when my phone gets wet?',
    'Dry the handset with a towel and leave it switched off for a day.',
  ],
  ['What is the highest mountain?', 'Everest rises 8,849 metres above sea level.'],
  ['When will my salary be paid?', 'Wages are transferred on the last Friday of each month.'],
  ['Is it dangerous to eat raw chicken?', 'Uncooked poultry may carry salmonella.'],
  ['How do plants feed on light?', 'Leaves turn sunshine into sugar.'],
  ['What causes the tides?', 'The pull of the Moon lifts the oceans.'],
  ['I forgot my password, how do I log in?', 'A link to reset your credentials is on the welcome page.'],
  ['Which doctor treats children?', 'A paediatrician looks after the youngest patients.'],
  ['How can I sleep better?', 'Avoid screens before bed and keep the room dark for a good night.'],
  ['Why is the engine too hot?', 'The temperature climbs when the coolant runs low.'],
  ['May I cancel my order?', 'A purchase is refunded if it is sent back within fourteen days.'],
  ['What language do people speak in Brazil?', 'Portuguese is the official tongue in Rio and São Paulo.'],
  ['How long does it take to boil an egg?', 'Keep it in a pan of simmering water for ten minutes.'],
];

const FRENCH: readonly SentencePair[] = [
  [
    'Comment enlever la rouille de mon vélo ?',
    'La corrosion part avec du vinaigre et une brosse métallique.',
  ],
  [
    'À quelle heure ferme la bibliothèque ?',
    "Les lecteurs empruntent des livres jusqu'à la fin de l'après-midi.",
  ],
  [
    "Puis-je venir à l'hôtel avec mon chien ?",
    'Les animaux sont acceptés dans toutes les chambres contre un petit supplément.',
  ],
  ['Pourquoi ai-je mal au ventre après avoir mangé ?', 'Un repas trop lourd se digère difficilement.'],
  ['Qui a peint le plafond de la chapelle ?', 'Michel-Ange a orné la voûte de fresques entre 1508 et 1512.'],
  [
    "Combien coûte l'envoi d'un colis au Japon ?",
    "L'affranchissement vers l'Asie revient à douze euros le kilo.",
  ],
  [
    "Où garer ma voiture près de l'aéroport ?",
    'Le stationnement des véhicules se trouve à côté du terminal deux.',
  ],
  [
    "Que faire quand mon téléphone est tombé dans l'eau ?",
    "Séchez l'appareil avec une serviette et laissez-le éteint une journée.",
  ],
  ['Quelle est la plus haute montagne ?', "L'Everest culmine à 8 849 mètres."],
  ['Quand mon salaire sera-t-il versé ?', 'La paie est virée le dernier vendredi du mois.'],
  ['Est-il dangereux de manger du poulet cru ?', 'La volaille mal cuite peut transmettre des salmonelles.'],
  ['Comment les plantes se nourrissent-elles de lumière ?', 'Les feuilles transforment le soleil en sucre.'],
  ["D'où viennent les marées ?", "L'attraction de la Lune soulève les océans."],
  [
    "J'ai oublié mon mot de passe, comment me connecter ?",
    "Un lien pour réinitialiser vos identifiants se trouve sur la page d'accueil.",
  ],
  ['Quel médecin soigne les enfants ?', "Le pédiatre s'occupe des plus jeunes patients."],
  [
    'Comment mieux dormir ?',
    'Évitez les écrans avant le coucher et gardez la chambre sombre pour passer une bonne nuit.',
  ],
  [
    'Pourquoi le moteur chauffe-t-il trop ?',
    'La température monte quand il manque du liquide de refroidissement.',
  ],
  ['Puis-je annuler ma commande ?', "Un achat est remboursé s'il est renvoyé sous quatorze jours."],
  ['Quelle langue parle-t-on au Brésil ?', "Le portugais est l'idiome officiel à Rio et à São Paulo."],
  [
    'Combien de temps faut-il pour cuire un œuf dur ?',
    'Plongez-le dix minutes dans une casserole bouillante.',
  ],
];

/**
 * Twenty pairs of each language that `languageOf` tells, written for this. Question and answer share no word but stop
 * words, so that who knows words alone finds no answer.
 */
export const SENTENCE_PAIRS: Readonly<Record<'en' | 'fr', readonly SentencePair[]>> = {
  en: ENGLISH,
  fr: FRENCH,
};
