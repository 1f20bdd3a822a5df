//! Clauses in languages that nobody reads here: two that differ at two places tell different things.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::french_role("Julie est responsable des paiements.", "Marc est responsable des livraisons.")]
#[case::german_role("Für Steuern ist Uwe zuständig.", "Für Versand ist Ilse zuständig.")]
#[case::spanish_role("Marta es la encargada del almacén.", "Pablo es el encargado de la tienda.")]
#[case::spanish_verb("Marta lleva la tienda.", "Pablo lleva el almacén.")]
#[case::italian_verb("Carla gestisce il negozio.", "Piero gestisce il magazzino.")]
#[case::spanish_country("En Francia enviamos con Colissimo.", "En España enviamos con Correos.")]
#[case::capitals("En Alemania cobramos con SEPA.", "En Holanda cobramos con iDEAL.")]
#[case::german_country("In Deutschland zahlt man mit SEPA.", "In Holland zahlt man mit iDEAL.")]
#[case::article_that_is_an_english_verb("Die Rechnungen schreibt Uwe.", "Die Mahnungen schreibt Ilse.")]
#[case::number("L'API écoute sur le port 8080.", "Le worker écoute sur le port 9090.")]
fn what_differs_at_two_places_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}

#[rstest]
#[case::french_role("Julie est responsable des paiements.", "Marc est responsable des paiements.")]
#[case::german_role("Für Steuern ist Uwe zuständig.", "Für Steuern ist Ilse zuständig.")]
#[case::spanish_verb("Marta lleva la tienda.", "Pablo lleva la tienda.")]
#[case::spanish_country("En Francia enviamos con Colissimo.", "En Francia enviamos con Chronopost.")]
#[case::two_words_side_by_side("Nous hébergeons chez OVH à Roubaix.", "Nous hébergeons chez Scaleway à Paris.")]
#[case::italian_version("Il server gira su Ubuntu 20.04.", "Il server gira su Ubuntu 24.04.")]
#[case::english_with_an_unknown_verb(
    "The app talks to the server over REST.",
    "GraphQL is how the app reaches the server."
)]
#[case::german_now("Der Shop läuft auf Heroku.", "Der Shop läuft jetzt auf Render.")]
#[case::spanish_now("El correo se envía con SendGrid.", "El correo se envía ahora con Postmark.")]
#[case::french_now("Le blog est hébergé chez OVH.", "Le blog est maintenant hébergé chez Scaleway.")]
#[case::elision("La copertura è almeno dell'80%.", "La copertura è almeno l'85%.")]
#[case::value_that_is_no_detail("La rama por defecto es master.", "La rama por defecto es main.")]
fn what_differs_at_one_place_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
